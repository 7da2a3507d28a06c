// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/network_view.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSettings>
#include <QSplitter>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>
#include <set>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/finals_service.h"
#include "app/services/round_set.h"
#include "app/services/session_set.h"
#include "app/services/task_board.h"
#include "widgets/charts/network_chart.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/table_view.h"
#include "widgets/records/round_model.h"
#include "widgets/records/time_kind.h"
#include "widgets/theme/theme.h"

namespace tw::app {
namespace {
/// Rounds of small tasks end many times a second; a picture is drawn of some of them.
constexpr int kNetworkMs = 80;
constexpr double kMostMs = 1e7;
/// Below this width chart and decisions take turns.
constexpr int kRoomForBoth = 760;
}  // namespace

NetworkView::NetworkView(Services& services, QWidget* parent)
    : QWidget(parent),
      m_services(services),
      m_chart(new widgets::NetworkChart(this)),
      m_model(new widgets::RoundModel(this)),
      m_table(new QTreeView(this)),
      m_set(new RoundSet(services.hub, services.workspace, services.tuning, this)) {
  m_table->setModel(m_model);
  m_table->setObjectName(QStringLiteral("table.network.rounds"));
  m_table->setAccessibleName(tr("Rounds of the session"));
  widgets::setUpTable(m_table);
  const int widths[] = {52, 44, 46, 66, 66, 260};
  for (int c = 0; c < widgets::RoundModel::ColumnCount; ++c) m_table->header()->resizeSection(c, widths[c]);
  m_table->header()->setStretchLastSection(false);
  m_table->header()->setSectionResizeMode(widgets::RoundModel::Why, QHeaderView::Stretch);  // its texts are whole under the pointer
  m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* split = m_split = new QSplitter(this);
  split->setObjectName(QStringLiteral("splitter.network"));
  split->addWidget(m_chart);
  split->addWidget(m_table);
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 2);
  split->setChildrenCollapsible(false);
  m_state = new widgets::EmptyState(split, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(2);
  box->addWidget(makeBar());
  box->addWidget(m_state, 1);
  m_growth.setSingleShot(true);
  m_growth.setInterval(kNetworkMs);
  connect(&m_growth, &QTimer::timeout, this, &NetworkView::showRounds);
  connect(m_set, &RoundSet::changed, this, [this] {
    if (!m_growth.isActive()) m_growth.start();
  });
  connect(&services.tasks, &TaskBoard::changed, this, [this] {
    const auto& lines = m_chart->lines();
    for (size_t i = 0; i < std::min(lines.size(), m_set->entries().size()); ++i)
      if (lines[i].defaultSeconds != byDefault(m_set->entries()[i]) && !m_growth.isActive()) m_growth.start();
  });
  connect(m_chart, &widgets::NetworkChart::roundActivated, this, &NetworkView::choose);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    m_chart->setSelectedRound(current.isValid() ? m_model->round(current.row()).number : 0);
  });
  connect(&services.tuning, &TuneService::stateChanged, this, &NetworkView::showState);
  for (const auto signal : {&SelectionHub::modelChanged, &SelectionHub::sessionChanged}) connect(&services.hub, signal, this, &NetworkView::readMeasured);
  connect(&services.finals, &FinalsService::finished, this, &NetworkView::readMeasured);
  showRounds();
}

void NetworkView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  showPage();
}

void NetworkView::showPage() {
  const bool both = width() >= kRoomForBoth * widgets::typeScale();
  m_page->setVisible(!both);
  m_bar->setDirection(both ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);  // the sentence is not cut for the sake of what stands beside it
  if (both && !m_both) m_split->setSizes({width() * 3 / 5, width() * 2 / 5});
  m_both = both;
  m_chart->setVisible(both || m_page->currentIndex() == 0);
  m_table->setVisible(both || m_page->currentIndex() == 1);
}

QWidget* NetworkView::makeBar() {
  m_page = new QComboBox(this);
  m_page->setObjectName(QStringLiteral("combo.network.page"));
  m_page->setAccessibleName(tr("What is shown"));
  m_page->setToolTip(m_page->accessibleName());
  m_page->addItems({tr("Curve"), tr("Rounds")});
  connect(m_page, &QComboBox::currentIndexChanged, this, &NetworkView::showPage);
  m_summary = new widgets::ElidedLabel(this);
  m_summary->setObjectName(QStringLiteral("label.network.summary"));
  m_x = new QComboBox(this);
  m_x->setObjectName(QStringLiteral("combo.network.x"));
  m_x->setAccessibleName(tr("Horizontal axis"));
  m_x->setToolTip(tr("Time: of the session's work, pauses left out. Time measuring: what of it was spent on running candidates."));
  m_x->addItems({tr("over trials"), tr("over time"), tr("over time measuring")});
  m_target = new QDoubleSpinBox(this);
  m_target->setObjectName(QStringLiteral("spin.network.target"));
  m_target->setAccessibleName(tr("Target in milliseconds"));
  m_target->setToolTip(tr("A time that the network should reach; the legend says when each session came to it"));
  m_target->setDecimals(3);
  m_target->setRange(0, kMostMs);
  m_target->setSpecialValueText(tr("no target"));
  m_target->setSuffix(tr(" ms"));
  m_target->setKeyboardTracking(false);
  QSettings settings;
  m_x->setCurrentIndex(std::clamp(settings.value(QStringLiteral("network/x"), 0).toInt(), 0, m_x->count() - 1));
  m_target->setValue(settings.value(QStringLiteral("network/target"), 0).toDouble());
  const auto setX = [this](int i) { m_chart->setX(static_cast<widgets::NetworkX>(i)); };
  const auto setTarget = [this](double ms) { m_chart->setTarget(ms * 1e-3); };
  setX(m_x->currentIndex());
  setTarget(m_target->value());
  connect(m_x, &QComboBox::currentIndexChanged, this, [setX](int i) {
    QSettings().setValue(QStringLiteral("network/x"), i);
    setX(i);
  });
  connect(m_target, &QDoubleSpinBox::valueChanged, this, [setTarget](double ms) {
    QSettings().setValue(QStringLiteral("network/target"), ms);
    setTarget(ms);
  });
  auto* bar = new QWidget(this);
  m_bar = new QBoxLayout(QBoxLayout::LeftToRight, bar);
  m_bar->setContentsMargins(6, 2, 6, 0);
  m_bar->setSpacing(2);
  m_bar->addWidget(m_summary, 1);
  auto* line = new QHBoxLayout;
  m_bar->addLayout(line);
  line->addStretch(1);
  line->addWidget(m_page);
  line->addWidget(m_x);
  line->addWidget(m_target);
  return bar;
}

void NetworkView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  m_set->setActive(true);
  readMeasured();
}

void NetworkView::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  m_set->setActive(false);
}

void NetworkView::readMeasured() {
  const auto& model = m_services.hub.model();
  if (!isVisible()) return;
  m_chart->setMeasured(0, 0);
  if (!model || !model->id || !m_services.workspace.reader()) return;
  using Rows = std::vector<db::NetworkFinalRow>;
  const auto work = [reader = m_services.workspace.summaryReader(), id = model->id](StopToken) -> Expected<Rows> { return reader->network_finals(id); };
  m_measuredJob.replace(m_services.jobs.run<Rows>(Lane::summary, this, work, [this, model](Expected<Rows> rows) {
    if (!rows || m_services.hub.model() != model) return;
    // The newest one after the selected session, else the newest of all.
    const db::NetworkFinalRow* shown = nullptr;
    const SessionId nearest = SessionSet::nearest(m_services.hub, m_services.workspace);
    for (const db::NetworkFinalRow& row : *rows) {
      if (row.target != model->target.str()) continue;
      const bool own = row.session && row.session == nearest;
      if (own || !shown || shown->session != nearest) shown = &row;
    }
    if (shown) m_chart->setMeasured(shown->default_s, shown->tuned_s);
    m_summary->setText(m_chart->summary());
  }));
}

void NetworkView::showRounds() {
  std::vector<widgets::NetworkChart::Line> lines;
  const SessionId selected = SessionSet::nearest(m_services.hub, m_services.workspace);
  const std::vector<records::Round>* own = nullptr;
  for (const RoundSet::Entry& e : m_set->entries()) {
    lines.push_back({SessionSet::nameOf(e.row), static_cast<int>(lines.size()), e.row.id == selected, e.rounds, byDefault(e)});
    if (e.row.id == selected) own = &e.rounds;
  }
  m_chart->setTimes(widgets::timeKind(m_services.workspace.sessions(), selected));
  m_chart->setLines(std::move(lines));
  std::map<std::string, QString> tasks;
  if (const auto& model = m_services.hub.model()) {
    for (size_t t = 0; t < model->tasks.size(); ++t) tasks[model->tasks[t].task.key] = QStringLiteral("T%1").arg(t + 1);
  }
  m_model->setRounds(selected, own ? *own : std::vector<records::Round>(), std::move(tasks));
  m_summary->setText(m_chart->summary());
  showState();
}

double NetworkView::byDefault(const RoundSet::Entry& entry) const {
  const auto& model = m_services.hub.model();
  std::set<int> tasks;
  for (const records::Round& r : entry.rounds) tasks.insert(model ? model->taskByKey(r.task_key) : -1);
  if (tasks.empty() || *tasks.begin() < 0) return 0;
  return m_services.tasks.networkByDefault({tasks.begin(), tasks.end()}, entry.row.kind);
}

void NetworkView::choose(qint64 round) {
  const int row = m_model->rowOf(round);
  if (row >= 0) m_table->setCurrentIndex(m_model->index(row, 0));
}

void NetworkView::showState() {
  const auto& entries = m_set->entries();
  const bool loading = std::any_of(entries.begin(), entries.end(), [](const auto& e) { return e.loading; });
  const bool rounds = std::any_of(entries.begin(), entries.end(), [](const auto& e) { return !e.rounds.empty(); });
  const bool running = m_services.tuning.isActive() && m_services.tuning.session() == SessionSet::nearest(m_services.hub, m_services.workspace);
  m_summary->setVisible(rounds);
  if (!m_chart->isEmpty()) return m_state->showContent();
  if (!m_services.hub.model())
    return m_state->showEmpty(tr("No network"), tr("Open a model and tune its tasks: how fast the whole network is by then stands here."),
                              m_services.actions.get(QStringLiteral("file.open")));
  if (rounds || running)
    return m_state->showEmpty(tr("Not known yet"), tr("The network's time is known once every task has one: after the first trials of each, if none of its default "
                                                      "schedules fails."));
  if (loading) return m_state->showEmpty(tr("Reading rounds…"), {});
  if (SessionSet::nearest(m_services.hub, m_services.workspace))
    return m_state->showEmpty(tr("No rounds"), tr("This session has none: its trials came from a log, from single measurements, or from a version that stored none."),
                              m_services.actions.get(QStringLiteral("tune.start")));
  m_state->showEmpty(tr("No sessions yet"), tr("Start a session over all tasks to see the network become faster."),
                     m_services.actions.get(QStringLiteral("tune.start")));
}

}  // namespace tw::app
