// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/campaign_view.h"

#include <QComboBox>
#include <QFileInfo>
#include <QGridLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QSplitter>
#include <QStandardItemModel>
#include <QTabWidget>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/action_registry.h"
#include "app/logs/campaign_text.h"
#include "app/services/campaign_service.h"
#include "widgets/charts/importance_view.h"
#include "widgets/charts/resource_chart.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/format.h"
#include "widgets/common/scroll_page.h"
#include "widgets/common/table_view.h"

namespace tw::app {
namespace {

constexpr int kChartWidth = 430;  ///< pixels that a chart has at least where there are several beside each other

QString stringOf(const std::string& s) { return QString::fromStdString(s); }

QStringList labelsOf(const cost::Resource& r) {
  QStringList labels;
  for (const std::string& label : r.labels) labels << stringOf(label);
  return labels;
}

/// The place of a value among those of a resource, between two of them by its logarithm where they grow so.
double placeOf(const std::vector<double>& values, double value) {
  for (size_t i = 1; i < values.size(); ++i) {
    if (value > values[i]) continue;
    const bool grows = values[i - 1] > 0 && value > 0;
    const double part = grows ? std::log(value / values[i - 1]) / std::log(values[i] / values[i - 1]) : (value - values[i - 1]) / (values[i] - values[i - 1]);
    return static_cast<double>(i - 1) + part;
  }
  return static_cast<double>(values.size()) - 1;
}

widgets::ResourceCurves::Line lineOf(const QString& name, const cost::ResourceCurve& curve, bool leadsToTrials) {
  return {name, curve.middle, curve.low, curve.high, false, leadsToTrials};
}

constexpr int kBestLine = 3;  ///< of curvesOf()

widgets::ResourceCurves curvesOf(const logs::CampaignSeries& s, size_t resource) {
  const cost::Resource& r = s.table.resources[resource];
  const cost::ResourceEffect& e = s.effects.effects[resource];
  widgets::ResourceCurves curves{stringOf(r.name), labelsOf(r), {}, {}};
  curves.lines = {lineOf(CampaignView::tr("mean"), e.partial, false),
                  lineOf(CampaignView::tr("slice"), e.slice, false),
                  {CampaignView::tr("trial there"), e.measured, {}, {}, true, true},
                  lineOf(CampaignView::tr("best"), e.best, true)};
  // Knees at one value stand beside each other.
  for (const auto& [knee, of] : {std::pair(&e.partial_knee, CampaignView::tr("mean")), std::pair(&e.slice_knee, CampaignView::tr("slice")),
                                 std::pair(&e.best_knee, CampaignView::tr("best"))}) {
    if (!*knee) continue;
    const double at = placeOf(r.values, (*knee)->at);
    const auto there = std::find_if(curves.marks.begin(), curves.marks.end(), [at](const auto& mark) { return mark.at == at; });
    if (there == curves.marks.end())
      curves.marks.push_back({at, CampaignView::tr("knee: %1").arg(of)});
    else
      there->text += QStringLiteral(", ") + of;
  }
  return curves;
}

}  // namespace

CampaignView::CampaignView(Services& services, QWidget* parent)
    : QWidget(parent),
      m_services(services),
      m_names(new QComboBox(this)),
      m_operators(new QComboBox(this)),
      m_devices(new QComboBox(this)),
      m_answer(new QLabel(this)),
      m_progressText(new QLabel(this)),
      m_noDevices(new QLabel(this)),
      m_studyText(new QLabel(this)),
      m_progress(new QProgressBar(this)),
      m_progressLine(new QWidget(this)),
      m_tabs(new QTabWidget(this)),
      m_bars(new widgets::ImportanceView(this)) {
  m_tabs->setObjectName(QStringLiteral("tabs.campaign"));
  m_tabs->setAccessibleName(tr("Parts of the campaign"));
  m_tabs->setDocumentMode(true);
  m_bars->setObjectName(QStringLiteral("view.campaign.importance"));
  m_bars->setAccessibleName(tr("Importance of resources"));
  for (QLabel* label : {m_answer, m_progressText, m_noDevices, m_studyText}) {
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setContentsMargins(8, 4, 8, 4);
  }
  m_answer->setObjectName(QStringLiteral("label.campaign.answer"));
  QFont bold = m_answer->font();
  bold.setBold(true);
  m_answer->setFont(bold);
  m_progressText->setObjectName(QStringLiteral("label.campaign.progress"));
  m_progressText->setWordWrap(false);
  m_studyText->setObjectName(QStringLiteral("label.campaign.study"));

  m_curves = makeCharts("page.campaign.curves", tr("Speed over each resource"));
  auto* importance = new QSplitter(Qt::Vertical, this);
  importance->setChildrenCollapsible(false);
  importance->addWidget(m_bars);
  importance->addWidget(m_importance = makeTable("table.campaign.importance", tr("Importance and knees of resources")));
  m_compared = makeCharts("page.campaign.devices", tr("The fastest trials on each device"));
  auto* devices = new QWidget(this);
  auto* devicesBox = new QVBoxLayout(devices);
  devicesBox->setContentsMargins(0, 0, 0, 0);
  devicesBox->addWidget(m_noDevices);
  auto* devicesSplit = new QSplitter(Qt::Vertical, devices);
  devicesSplit->setChildrenCollapsible(false);
  devicesSplit->addWidget(m_compared.page);
  devicesSplit->addWidget(m_crossings = makeTable("table.campaign.crossings", tr("Where another device becomes the faster one")));
  devicesSplit->setStretchFactor(0, 4);
  devicesSplit->setStretchFactor(1, 1);
  devicesBox->addWidget(devicesSplit, 1);
  m_tabs->addTab(m_curves.page, tr("Curves"));
  m_tabs->addTab(importance, tr("Importance"));
  m_tabs->addTab(devices, tr("Devices"));
  m_tabs->addTab(makeStudy(), tr("Cost model"));
  m_tabs->addTab(m_values = makeTable("table.campaign.values", tr("Speeds by value of each resource")), tr("Values"));
  m_state = new widgets::EmptyState(m_tabs, this);

  auto* line = new QHBoxLayout(m_progressLine);
  line->setContentsMargins(0, 0, 8, 0);
  m_progress->setObjectName(QStringLiteral("progress.campaign"));
  m_progress->setAccessibleName(tr("How far the campaign is"));
  m_progress->setRange(0, 1000);
  m_progress->setMaximumWidth(220);
  line->addWidget(m_progressText, 1);
  line->addWidget(m_progress);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(0);
  box->addWidget(makeBar());
  box->addWidget(m_progressLine);
  box->addWidget(m_answer);
  box->addWidget(m_state, 1);
  connect(&services.campaigns, &CampaignService::changed, this, &CampaignView::showAll);
  connect(&services.campaigns, &CampaignService::progressed, this, &CampaignView::showProgress);
  showAll();
}

QWidget* CampaignView::makeBar() {
  auto* bar = new QWidget(this);
  auto* line = new QHBoxLayout(bar);
  line->setContentsMargins(6, 3, 6, 2);
  const auto combo = [&](QComboBox* box, const char* id, const QString& name) {
    box->setObjectName(QLatin1String(id));
    box->setAccessibleName(name);
    box->setToolTip(name);
    box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    line->addWidget(box);
  };
  combo(m_names, "combo.campaign.name", tr("Campaign"));
  combo(m_operators, "combo.campaign.operator", tr("Operator"));
  combo(m_devices, "combo.campaign.device", tr("Device"));
  connect(m_names, &QComboBox::textActivated, &m_services.campaigns, &CampaignService::choose);
  connect(m_operators, &QComboBox::currentIndexChanged, this, &CampaignView::showOperator);
  connect(m_devices, &QComboBox::currentIndexChanged, this, &CampaignView::showSeries);
  line->addStretch();
  auto* shipped = new QToolButton(bar);
  shipped->setObjectName(QStringLiteral("button.campaign.shipped"));
  shipped->setText(tr("Examples"));
  shipped->setAccessibleName(tr("Campaigns that come with the program"));
  shipped->setToolTip(tr("Campaigns that come with the program, with their results"));
  shipped->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(shipped);
  for (const std::string& file : logs::shipped_campaigns()) {
    const QString path = stringOf(file);
    connect(menu->addAction(QFileInfo(path).completeBaseName()), &QAction::triggered, this, [this, path] { Q_EMIT m_services.campaigns.fileAsked(path); });
  }
  shipped->setMenu(menu);
  shipped->setVisible(!menu->isEmpty());
  line->addWidget(shipped);
  for (const char* action : {"file.campaign", "campaign.run", "campaign.stop", "file.exportCampaign"}) {
    auto* button = new QToolButton(bar);
    button->setObjectName(QStringLiteral("button.") + QLatin1String(action));
    button->setDefaultAction(m_services.actions.get(QLatin1String(action)));
    button->setAccessibleName(button->defaultAction()->text().remove(QLatin1Char('&')));
    line->addWidget(button);
  }
  return bar;
}

CampaignView::Charts CampaignView::makeCharts(const char* id, const QString& name) {
  Charts made;
  made.page = new QWidget(this);
  made.page->setObjectName(QLatin1String(id));
  made.page->setAccessibleName(name);
  auto* box = new QVBoxLayout(made.page);
  box->setContentsMargins(0, 0, 0, 0);
  made.grid = new QGridLayout(widgets::addScrollPage(box));
  made.grid->setContentsMargins(2, 2, 2, 2);
  return made;
}

QTreeView* CampaignView::makeTable(const char* id, const QString& name) {
  auto* table = new QTreeView(this);
  table->setObjectName(QLatin1String(id));
  table->setAccessibleName(name);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  widgets::setUpTable(table);
  table->setModel(new QStandardItemModel(table));
  table->header()->setStretchLastSection(false);
  return table;
}

QWidget* CampaignView::makeStudy() {
  auto* page = new QWidget(this);
  auto* box = new QVBoxLayout(page);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(0);
  box->addWidget(m_studyText);
  auto* split = new QSplitter(Qt::Vertical, page);
  split->setChildrenCollapsible(false);
  split->addWidget(m_worths = makeTable("table.campaign.worths", tr("What a cost model gains by being told")));
  split->addWidget(m_leftOut = makeTable("table.campaign.left_out", tr("Devices that were left out")));
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 1);
  box->addWidget(split, 1);
  auto* note = new QLabel(QString::fromLatin1(logs::kStudyNote), page);
  note->setTextFormat(Qt::PlainText);
  note->setWordWrap(true);
  note->setContentsMargins(8, 4, 8, 4);
  note->setForegroundRole(QPalette::PlaceholderText);
  box->addWidget(note);
  m_studyState = new widgets::EmptyState(page, this);
  return m_studyState;
}

void CampaignView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  m_services.campaigns.setWatched(true);
}

void CampaignView::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  m_services.campaigns.setWatched(false);
}

void CampaignView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  placeCharts(m_curves);
  placeCharts(m_compared);
}

void CampaignView::resizeCharts(Charts& all, size_t count) {
  while (all.charts.size() > count) {
    delete all.charts.back();
    all.charts.pop_back();
  }
  while (all.charts.size() < count) {
    auto* chart = new widgets::ResourceChart(all.grid->parentWidget());
    chart->setObjectName(QStringLiteral("view.campaign.chart%1").arg(all.charts.size()));
    all.charts.push_back(chart);
  }
  placeCharts(all);
}

void CampaignView::placeCharts(Charts& all) {
  const int columns = std::clamp(width() / kChartWidth, 1, 3);
  for (size_t i = 0; i < all.charts.size(); ++i) all.grid->addWidget(all.charts[i], static_cast<int>(i) / columns, static_cast<int>(i) % columns);
  for (int c = 0; c < 3; ++c) all.grid->setColumnStretch(c, c < columns ? 1 : 0);
}

void CampaignView::fillTable(QTreeView* table, const Cells& cells) {
  auto* model = static_cast<QStandardItemModel*>(table->model());
  model->clear();
  if (cells.empty()) return;
  for (size_t c = 0; c < cells.front().size(); ++c) {
    const std::string& title = cells.front()[c];
    const bool isNumber = title.starts_with('>');
    auto* head = new QStandardItem(stringOf(isNumber ? title.substr(1) : title));
    head->setTextAlignment((isNumber ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    model->setHorizontalHeaderItem(static_cast<int>(c), head);
    for (size_t r = 1; r < cells.size(); ++r) {
      auto* item = new QStandardItem(stringOf(cells[r][c]));
      item->setTextAlignment(head->textAlignment());
      item->setToolTip(item->text().toHtmlEscaped());
      model->setItem(static_cast<int>(r) - 1, static_cast<int>(c), item);
    }
  }
  for (int c = 0; c < model->columnCount(); ++c) {
    table->resizeColumnToContents(c);
    if (c == 0) table->header()->resizeSection(0, std::min(table->header()->sectionSize(0), 340));
  }
}

void CampaignView::showAll() {
  const CampaignService& c = m_services.campaigns;
  showNames();
  showProgress();
  if (m_shown != c.campaign()) {
    m_shown = c.campaign();
    {
      const QString before = m_operators->currentText();
      const QSignalBlocker quiet(m_operators);
      m_operators->clear();
      if (m_shown)
        for (const logs::CampaignSeries& s : m_shown->series)
          if (m_operators->findText(stringOf(s.name)) < 0) m_operators->addItem(stringOf(s.name));
      m_operators->setCurrentIndex(std::max(0, m_operators->findText(before)));
    }
    m_answer->setText(m_shown ? stringOf(logs::campaign_answer(*m_shown)) : QString());
    showOperator();
  }
  m_answer->setVisible(m_shown != nullptr);
  m_operators->setVisible(m_shown != nullptr);
  m_devices->setVisible(m_shown != nullptr);
  if (m_shown) return m_state->showContent();
  QAction* open = m_services.actions.get(QStringLiteral("file.campaign"));
  if (c.isRunning()) return m_state->showEmpty(tr("The campaign is running"), tr("What its trials tell is worked out when it ends or is stopped."));
  if (c.isAnalysing())
    return m_state->showEmpty(
        tr("Working out what the trials tell"),
        tr("Trees are fitted to the trials of each operator on each device, and again to trials drawn from them. Jobs says how far this is."));
  if (!c.problem().isEmpty()) return m_state->showEmpty(tr("The trials tell nothing"), c.problem(), open);
  if (c.plan() && c.names().size() > 0)
    return m_state->showEmpty(
        tr("Campaign %1").arg(c.name()),
        tr("%n cell(s): each an operator in one shape on one target. Nothing was measured yet.", nullptr, static_cast<int>(c.plan()->cells.size())),
        m_services.actions.get(QStringLiteral("campaign.run")));
  m_state->showEmpty(tr("No campaign"),
                     tr("How operators' speed follows from knobs, shapes, threads and devices. Open a campaign file to run it, or a workspace or bundle with "
                        "one; Examples come with the program."),
                     open);
}

void CampaignView::showOperator() {
  const QString before = m_devices->currentText();
  {
    const QSignalBlocker quiet(m_devices);
    m_devices->clear();
    for (const logs::CampaignSeries* s : sameOperator())
      m_devices->addItem(s->kind == db::TimeKind::measured ? stringOf(s->device)
                                                           : tr("%1 (%2)").arg(stringOf(s->device), QLatin1String(db::time_kind_name(s->kind))));
    m_devices->setCurrentIndex(std::max(0, m_devices->findText(before)));
  }
  showSeries();
  showDevices();
  showStudy();
}

void CampaignView::showNames() {
  const QSignalBlocker quiet(m_names);
  m_names->clear();
  m_names->addItems(m_services.campaigns.names());
  m_names->setCurrentIndex(m_names->findText(m_services.campaigns.name()));
  m_names->setVisible(m_names->count() > 0);
}

void CampaignView::showProgress() {
  const CampaignService& c = m_services.campaigns;
  m_progressLine->setVisible(c.isRunning());
  if (!c.isRunning()) return;
  const CampaignService::Progress& p = c.progress();
  QString line = p.cell == 0 ? tr("The campaign begins") : tr("Cell %1 of %2: %3").arg(p.cell).arg(p.cells).arg(p.title);
  if (p.planned > 0) line += tr(", trial %1 of %2").arg(p.trials).arg(p.planned);
  if (p.secondsLeft >= 0) line += tr(", %1 left").arg(widgets::durationText(p.secondsLeft));
  m_progressText->setText(c.isStopping() ? tr("Stopping; what was measured is stored") : line);
  m_progress->setValue(static_cast<int>(1000 * p.done));
}

std::vector<const logs::CampaignSeries*> CampaignView::sameOperator() const {
  std::vector<const logs::CampaignSeries*> same;
  if (m_shown)
    for (const logs::CampaignSeries& s : m_shown->series)
      if (stringOf(s.name) == m_operators->currentText()) same.push_back(&s);
  return same;
}

const logs::CampaignSeries* CampaignView::series() const {
  const auto same = sameOperator();
  const int at = m_devices->currentIndex();
  return at >= 0 && at < static_cast<int>(same.size()) ? same[static_cast<size_t>(at)] : nullptr;
}

void CampaignView::showSeries() {
  const logs::CampaignSeries* s = series();
  resizeCharts(m_curves, s ? s->table.resources.size() : 0);
  if (!s) return;
  Cells values;
  std::vector<widgets::ImportanceView::Share> shares;
  for (size_t i = 0; i < m_curves.charts.size(); ++i) {
    widgets::ResourceChart* chart = m_curves.charts[i];
    chart->setCurves(curvesOf(*s, i));
    chart->disconnect(this);
    connect(chart, &widgets::ResourceChart::pointActivated, this, [this, campaign = m_shown, s, i](int line, int value) {
      const cost::ResourceEffect& e = s->effects.effects[i];
      const auto& row = (line == kBestLine ? e.best_row : e.measured_row)[static_cast<size_t>(value)];
      if (row) m_services.campaigns.showTrial(s->places[*row]);
    });
    const cost::ResourceEffect& e = s->effects.effects[i];
    shares.push_back({stringOf(s->table.resources[i].name), e.importance, e.importance_low, e.importance_high});
    const Cells cells = logs::effect_cells(*s, i);
    for (size_t r = values.empty() ? 0 : 1; r < cells.size(); ++r) {
      values.push_back(cells[r]);
      values.back().insert(values.back().begin(), r == 0 ? "resource" : s->table.resources[i].name);
      if (r == 0) values.back()[1] = ">value";
    }
  }
  m_bars->setShares(shares, tr("Share of the variance of the logarithm of speed that a resource explains alone, over the grid of all values (functional "
                               "ANOVA); the line holds nine of ten refits. On trials that they did not see, "
                               "the trees explain %1 of it.")
                                .arg(widgets::shareText(std::max(0.0, s->effects.r_squared))));
  fillTable(m_importance, logs::importance_cells(*s));
  fillTable(m_values, values);
}

void CampaignView::showDevices() {
  const auto same = sameOperator();
  std::vector<widgets::ResourceCurves> all;
  std::vector<std::vector<std::pair<const logs::CampaignSeries*, size_t>>> behind;  ///< of each chart's lines
  if (!same.empty()) {
    const logs::CampaignSeries& first = *same.front();
    for (size_t i = 0; i < first.table.resources.size(); ++i) {
      const cost::Resource& r = first.table.resources[i];
      widgets::ResourceCurves curves{stringOf(r.name), labelsOf(r), {}, {}};
      std::vector<std::pair<const logs::CampaignSeries*, size_t>> lines;
      for (const logs::CampaignSeries* s : same)
        for (size_t k = 0; k < s->table.resources.size(); ++k)
          if (s->kind == first.kind && s->table.resources[k].name == r.name && s->table.resources[k].labels == r.labels)
            curves.lines.push_back(lineOf(stringOf(s->device), s->effects.effects[k].best, true)), lines.emplace_back(s, k);
      if (lines.size() < 2) continue;
      for (const logs::CampaignCrossing& c : m_shown->crossings)
        if (c.name == first.name && c.resource == r.name)
          curves.marks.push_back({placeOf(r.values, c.crossing.at), tr("%1, then %2").arg(stringOf(c.before), stringOf(c.after))});
      all.push_back(std::move(curves)), behind.push_back(std::move(lines));
    }
  }
  resizeCharts(m_compared, all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    widgets::ResourceChart* chart = m_compared.charts[i];
    chart->setCurves(std::move(all[i]));
    chart->disconnect(this);
    connect(chart, &widgets::ResourceChart::pointActivated, this, [this, campaign = m_shown, lines = behind[i]](int line, int value) {
      const auto [s, resource] = lines[static_cast<size_t>(line)];
      if (const auto& row = s->effects.effects[resource].best_row[static_cast<size_t>(value)]) m_services.campaigns.showTrial(s->places[*row]);
    });
  }
  const Cells cells = m_shown ? logs::crossing_cells(*m_shown, m_operators->currentText().toStdString()) : Cells();
  m_crossings->setVisible(cells.size() > 1);
  fillTable(m_crossings, cells);
  m_noDevices->setText(same.size() < 2             ? tr("One device alone has run this operator.")
                       : m_compared.charts.empty() ? tr("The devices have no resource with the same values.")
                       : cells.size() > 1
                           ? tr("The fastest trial with each value, on each device; dashed lines stand where another device becomes the faster one.")
                           : tr("The fastest trial with each value, on each device. No resource changes which device is faster."));
}

void CampaignView::showStudy() {
  const std::string name = m_operators->currentText().toStdString();
  const logs::CampaignStudy* study = nullptr;
  QStringList why;
  if (m_shown) {
    for (const logs::CampaignStudy& s : m_shown->studies)
      if (s.name == name && !study) study = &s;
    for (const std::string& sentence : m_shown->unstudied) why << stringOf(sentence);
  }
  if (!study) return m_studyState->showEmpty(tr("No device can be left out"), why.join(QLatin1Char(' ')));
  m_studyState->showContent();
  m_studyText->setText(stringOf(logs::study_sentence(*study)));
  fillTable(m_worths, logs::worth_cells(*study));
  fillTable(m_leftOut, logs::left_out_cells(*study));
}

}  // namespace tw::app
