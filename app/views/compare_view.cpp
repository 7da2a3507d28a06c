// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/compare_view.h"

#include <QAction>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QSplitter>
#include <QStandardItemModel>
#include <QTabWidget>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>

#include "app/action_registry.h"
#include "app/services/race_service.h"
#include "app/services/session_set.h"
#include "app/services/task_board.h"
#include "app/services/trial_service.h"
#include "widgets/charts/curve_chart.h"
#include "widgets/charts/plot_theme.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/format.h"
#include "widgets/common/table_view.h"
#include "widgets/records/comparison.h"
#include "widgets/records/time_kind.h"
#include "widgets/records/tuner_rows.h"

namespace tw::app {
namespace {

constexpr int kCompareLiveMillis = 1000, kTunerNameDigits = 16;

}  // namespace

CompareView::CompareView(Services& services, QWidget* parent)
    : QWidget(parent),
      m_services(services),
      m_set(new SessionSet(services.hub, services.workspace, services.tuning, this)),
      m_chart(new widgets::CurveChart(this)),
      m_bests(new widgets::SideBySideModel(this)),
      m_configs(new widgets::SideBySideModel(this)),
      m_tabs(new QTabWidget(this)),
      m_tuners(new QTreeView(this)),
      m_answer(new QLabel(this)) {
  m_tabs->setObjectName(QStringLiteral("tabs.compare"));
  m_tabs->setAccessibleName(tr("Parts of the comparison"));
  m_tabs->setDocumentMode(true);
  m_verdict = new QLabel(this);
  m_verdict->setObjectName(QStringLiteral("label.compare.verdict"));
  m_verdict->setTextFormat(Qt::PlainText);
  m_verdict->setWordWrap(true);
  m_verdict->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  m_verdict->setContentsMargins(8, 6, 8, 6);
  m_verdict->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* scroll = new QScrollArea(this);
  scroll->setWidget(m_verdict);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setMinimumHeight(6 * fontMetrics().lineSpacing());  // never a slit
  auto* verdicts = new QSplitter(Qt::Vertical, this);
  verdicts->setChildrenCollapsible(false);
  verdicts->addWidget(makeTable(m_bests, "table.compare.bests", tr("Best times by task")));
  verdicts->addWidget(scroll);
  m_tabs->addTab(makeCurves(), tr("Curves"));
  m_tabs->addTab(verdicts, tr("Verdict"));
  m_tabs->addTab(makeTable(m_configs, "table.compare.configs", tr("Configurations")), tr("Configurations"));
  m_state = new widgets::EmptyState(m_tabs, this);
  m_newest = new QAction(tr("Compare the newest two"), this);
  connect(m_newest, &QAction::triggered, this, &CompareView::compareNewest);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  // The answer stands above everything; of a race that runs, how far it is.
  m_answer->setObjectName(QStringLiteral("label.compare.answer"));
  m_answer->setTextFormat(Qt::PlainText);
  m_answer->setWordWrap(true);
  m_answer->setContentsMargins(8, 6, 8, 4);
  m_answer->setTextInteractionFlags(Qt::TextSelectableByMouse);
  QFont bold = m_answer->font();
  bold.setBold(true);
  m_answer->setFont(bold);
  m_answer->hide();
  box->setSpacing(0);
  box->addWidget(m_answer);
  box->addWidget(m_state, 1);
  m_live.setSingleShot(true);
  m_live.setInterval(kCompareLiveMillis);
  connect(&m_live, &QTimer::timeout, this, [this] {
    showAnswer();
    showTuners();
  });
  connect(&services.tuning, &TuneService::progressed, this, [this] {
    if (!m_live.isActive() && isVisible()) m_live.start();
  });
  connect(&services.race, &RaceService::changed, this, &CompareView::showAnswer);
  connect(m_set, &SessionSet::changed, this, &CompareView::showSet);
  connect(&services.tasks, &TaskBoard::changed, this, [this] { m_chart->setDefaultSeconds(defaultSeconds()); });
  connect(&services.hub, &SelectionHub::comparedSessionsChanged, this, &CompareView::readBests);
  connect(&services.hub, &SelectionHub::modelChanged, this, &CompareView::readBests);
  connect(&services.workspace, &Workspace::sessionsChanged, this, &CompareView::readBests);
  showSet();
}

double CompareView::defaultSeconds() const {
  const auto& entries = m_set->entries();
  return m_services.tasks.defaultSeconds(m_services.hub.task(), entries.empty() ? m_services.trials.kind() : entries.front().row.kind);
}

QWidget* CompareView::makeCurves() {
  m_chart->setObjectName(QStringLiteral("view.compare.chart"));
  auto* x = new QComboBox(this);
  x->setObjectName(QStringLiteral("combo.compare.x"));
  x->setAccessibleName(tr("Horizontal axis"));
  x->addItems({tr("over trials"), tr("over time"), tr("over time spent")});
  auto* unit = new QComboBox(this);
  unit->setObjectName(QStringLiteral("combo.compare.unit"));
  unit->setAccessibleName(tr("Unit of the curves"));
  unit->addItems({tr("GFLOP/s"), tr("time")});
  m_lines = new QComboBox(this);
  m_lines->setObjectName(QStringLiteral("combo.compare.lines"));
  m_lines->setAccessibleName(tr("A line for each session or each tuner"));
  m_lines->addItems({tr("median over seeds"), tr("each session")});
  m_lines->setToolTip(tr("Over seeds: the median of the sessions that differ in their seed alone, and the middle half of them as a band"));
  connect(m_lines, &QComboBox::currentIndexChanged, this, &CompareView::showSet);
  connect(x, &QComboBox::currentIndexChanged, this, [this](int i) { m_chart->setX(static_cast<widgets::CurveX>(i)); });
  connect(unit, &QComboBox::currentIndexChanged, this, [this](int i) { m_chart->setUnit(i == 0 ? widgets::CurveUnit::gflops : widgets::CurveUnit::seconds); });
  auto* page = new QWidget(this);
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(6, 2, 6, 0);
  auto* exportButton = new QToolButton(this);
  exportButton->setObjectName(QStringLiteral("button.compare.export"));
  exportButton->setDefaultAction(m_services.actions.get(QStringLiteral("file.exportComparison")));
  bar->addWidget(exportButton);
  bar->addStretch();
  bar->addWidget(m_lines);
  bar->addWidget(x);
  bar->addWidget(unit);
  m_tuners->setObjectName(QStringLiteral("table.compare.tuners"));
  m_tuners->setAccessibleName(tr("What each tuner came to on the selected task"));
  widgets::setUpTable(m_tuners);
  m_tuners->setModel(new QStandardItemModel(this));
  m_tuners->header()->setStretchLastSection(false);
  m_tuners->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_tuners->viewport()->installEventFilter(this);
  auto* split = new QSplitter(Qt::Vertical, page);
  split->setChildrenCollapsible(false);
  split->addWidget(m_chart);
  split->addWidget(m_tuners);
  split->setStretchFactor(0, 4);
  split->setStretchFactor(1, 1);
  split->setSizes({800, 160});
  auto* box = new QVBoxLayout(page);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(2);
  box->addLayout(bar);
  box->addWidget(split, 1);
  return page;
}

QWidget* CompareView::makeTable(widgets::SideBySideModel* model, const char* id, const QString& name) {
  auto* table = new QTreeView(this);
  table->setModel(model);
  table->setObjectName(QLatin1String(id));
  table->setAccessibleName(name);
  widgets::setUpTable(table);
  connect(model, &QAbstractItemModel::modelReset, table, [table, model] {
    for (int c = 0; c < model->columnCount(); ++c)
      table->header()->resizeSection(c, c == 0 ? 190 : std::clamp(table->header()->sectionSizeHint(c), 150, 300));
  });
  return table;
}

void CompareView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  m_set->setActive(true);
  readBests();
}

void CompareView::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  m_set->setActive(false);
}

void CompareView::compareNewest() {
  std::vector<SessionId> newest;
  const auto& sessions = m_services.workspace.sessions();
  for (auto row = sessions.rbegin(); row != sessions.rend() && newest.size() < 2; ++row) {
    if (m_services.hub.model() && row->model == m_services.hub.model()->id) newest.insert(newest.begin(), row->id);
  }
  m_services.hub.setComparedSessions(std::move(newest));
}

std::vector<widgets::CurveChart::Overlay> CompareView::sessionLines() const {
  std::vector<widgets::CurveChart::Overlay> lines;
  for (const SessionSet::Entry& e : m_set->entries()) lines.push_back({SessionSet::nameOf(e.row), e.store, static_cast<int>(lines.size())});
  return lines;
}

std::vector<db::SessionGroup> CompareView::groups() const {
  std::vector<db::ComparedSession> sessions;
  for (const SessionSet::Entry& e : m_set->entries()) sessions.push_back({SessionSet::nameOf(e.row).toStdString(), e.row, {}});
  return db::group_sessions(sessions);
}

std::vector<widgets::CurveChart::Overlay> CompareView::seedBands() const {
  std::vector<widgets::CurveChart::Overlay> bands;
  for (const db::SessionGroup& group : groups()) {
    const auto count = static_cast<int>(group.sessions.size());
    const SessionSet::Entry& first = m_set->entries()[static_cast<size_t>(group.sessions.front())];
    const auto style = static_cast<int>(bands.size());
    if (count == 1) {  // one session is its own middle
      bands.push_back({SessionSet::nameOf(first.row), first.store, style});
      continue;
    }
    widgets::CurveChart::Overlay band{tr("%1 (%n seed(s))", nullptr, count).arg(QString::fromStdString(group.name)), nullptr, style};
    for (const int s : group.sessions) band.seeds.push_back(m_set->entries()[static_cast<size_t>(s)].store);
    bands.push_back(std::move(band));
  }
  return bands;
}

void CompareView::showTuners() {
  std::vector<db::GroupCurves> tuners;
  for (const db::SessionGroup& group : groups()) {
    db::GroupCurves t{group.name, {}};
    for (const int s : group.sessions) t.sessions.push_back(widgets::curveOf(m_set->entries()[static_cast<size_t>(s)].store));
    tuners.push_back(std::move(t));
  }
  const widgets::Table table = widgets::progressTable(db::progress(tuners));
  auto* model = static_cast<QStandardItemModel*>(m_tuners->model());
  model->setColumnCount(static_cast<int>(table.columns.size()));
  model->setHorizontalHeaderLabels(table.columns);
  model->setRowCount(static_cast<int>(table.rows.size()));
  for (int r = 0; r < model->rowCount(); ++r) {
    // What a narrow window leaves out is told too.
    QStringList all;
    for (qsizetype c = 0; c < table.columns.size(); ++c) all << QStringLiteral("%1: %2").arg(table.columns[c], table.rows[static_cast<size_t>(r)][c]);
    const QString told = QStringLiteral("<qt>%1</qt>").arg(all.join(QLatin1Char('\n')).toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>")));
    for (int c = 0; c < model->columnCount(); ++c) {
      auto* item = model->item(r, c);
      if (!item) model->setItem(r, c, item = new QStandardItem);
      item->setEditable(false);
      item->setToolTip(told);
      item->setText(table.rows[static_cast<size_t>(r)][c]);
      item->setTextAlignment((c == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
  }
  fitTuners();
}

void CompareView::fitTuners() {
  QHeaderView* header = m_tuners->header();
  const int columns = header->count();
  if (columns == 0) return;
  // Numbers take what they need; what does not fit beside the name is left out from the end, where what is asked for least stands.
  const int digit = m_tuners->fontMetrics().horizontalAdvance(QLatin1Char('0')), least = kTunerNameDigits * digit;
  const int room = m_tuners->viewport()->width();
  int used = least;
  bool fits = true;
  for (int c = 1; c < columns; ++c) {
    int wide = header->sectionSizeHint(c);
    for (int r = 0; r < m_tuners->model()->rowCount(); ++r) wide = std::max(wide, m_tuners->fontMetrics().horizontalAdvance(m_tuners->model()->index(r, c).data().toString()) + 2 * digit);
    fits = fits && used + wide <= room;
    m_tuners->setColumnHidden(c, !fits);
    if (!fits) continue;
    header->resizeSection(c, wide);
    used += wide;
  }
  header->resizeSection(0, std::max(least, least + room - used));
}

void CompareView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  m_tuners->setVisible(!widgets::isLowPlot(height()));  // curves come before the table
}

bool CompareView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_tuners->viewport() && event->type() == QEvent::Resize) fitTuners();
  // After the table, which makes its columns wider with its letters.
  if (watched == m_tuners->viewport() && event->type() == QEvent::FontChange) QMetaObject::invokeMethod(this, &CompareView::fitTuners, Qt::QueuedConnection);
  return QWidget::eventFilter(watched, event);
}

void CompareView::showAnswer() {
  const RaceService& race = m_services.race;
  QString text = m_winner;
  if (race.isActive()) {
    const double left = race.secondsLeft();
    text = tr("Race: session %1 of %2").arg(race.sessions().size()).arg(race.total());
    if (left >= 0) text += tr(", %1 left").arg(widgets::durationText(left));
    text += QLatin1Char('.');
    if (!m_winner.isEmpty()) text += QLatin1Char(' ') + tr("So far: %1").arg(m_winner);
  }
  m_answer->setText(text);
  m_answer->setVisible(!text.isEmpty() && !m_state->isEmpty());
}

void CompareView::showSet() {
  m_chart->setOverlays(m_lines->currentIndex() == 0 ? seedBands() : sessionLines());
  showTuners();
  const auto& model = m_services.hub.model();
  if (!model)
    return m_state->showEmpty(tr("Nothing to compare"),
                              tr("Sessions of a model stand side by side here. Choose a session in the panel Sessions, or open a model."));
  if (m_set->entries().size() >= 2) {
    m_state->showContent();
    return showAnswer();
  }
  const auto own = std::count_if(m_services.workspace.sessions().begin(), m_services.workspace.sessions().end(),
                                 [&](const db::SessionRow& row) { return row.model == model->id; });
  m_state->showEmpty(
      tr("No sessions side by side"),
      own >= 2 ? tr("Curves, a verdict and the differences of two or more sessions stand here. Tick them in the panel Sessions.")
               : tr("Curves, a verdict and the differences of two or more sessions stand here. This model has %n session(s).", nullptr, static_cast<int>(own)),
      own >= 2 ? m_newest : m_services.actions.get(QStringLiteral("tune.race")));
}

void CompareView::readBests() {
  if (!isVisible() || !m_services.workspace.reader() || !m_services.hub.model()) return;
  const auto work = [reader = m_services.workspace.summaryReader(), sessions = m_services.hub.comparedSessions()](StopToken) {
    return reader->bests(sessions);
  };
  m_job.replace(m_services.jobs.run<std::vector<db::BestRow>>(Lane::summary, this, work, [this](Expected<std::vector<db::BestRow>> rows) {
    if (rows)
      showBests(*rows);
    else
      m_verdict->setText(QString::fromStdString(rows.error().text()));
  }));
}

void CompareView::showBests(const std::vector<db::BestRow>& rows) {
  const auto& model = m_services.hub.model();
  if (!model) return;
  std::vector<db::ComparedSession> sessions;
  QStringList titles;
  std::map<widgets::TimeKind, QStringList> kinds;
  for (const SessionId id : m_services.hub.comparedSessions()) {
    for (const db::SessionRow& row : m_services.workspace.sessions()) {
      if (row.id != id) continue;
      db::ComparedSession session{SessionSet::nameOf(row).toStdString(), row, {}};
      for (const db::BestRow& best : rows) {
        if (best.session == id) session.note(best);
      }
      titles << SessionSet::nameOf(row);
      kinds[row.kind] << QString::number(row.id.value);
      sessions.push_back(std::move(session));
    }
  }
  std::vector<db::ComparedTask> tasks;
  for (size_t i = 0; i < model->taskIds.size(); ++i)
    tasks.push_back({model->taskIds[i].value, QStringLiteral("T%1 %2").arg(i + 1).arg(model->titleOf(static_cast<int>(i))).toStdString()});
  m_bests->set(tr("Best time"), titles, widgets::bestTimes(sessions, tasks));
  m_configs->set(tr("Setting"), titles, widgets::configurations(sessions));
  QStringList sentences;
  for (const auto& [kind, ids] : kinds)
    if (kind != widgets::TimeKind::measured)
      sentences << tr("Times of the sessions %1 are %2, not measured.").arg(ids.join(QStringLiteral(", ")), widgets::timeKindText(kind));
  const auto notes = sentences.size();
  if (tasks.size() > 1)
    for (const db::Overall& o : db::overall(sessions, tasks)) sentences << QString::fromStdString(db::overall_text(o));
  const auto time = [](double seconds) { return widgets::secondsText(seconds).toStdString(); };
  for (const db::Verdict& v : db::verdicts(sessions, tasks)) sentences << QString::fromStdString(db::verdict_text(v, time));
  if (const std::string idle = db::nothing_to_search_text(sessions, tasks); !idle.empty()) sentences << QString::fromStdString(idle);
  if (sentences.size() == notes) sentences << tr("The sessions have no task in common, or differ in their seed alone.");
  m_verdict->setText(sentences.join(QStringLiteral("\n\n")));
  m_winner = QString::fromStdString(db::winner_text(sessions, tasks, time));
  showAnswer();
}

}  // namespace tw::app
