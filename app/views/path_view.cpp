// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/path_view.h"

#include <QHeaderView>
#include <QLabel>
#include <QSplitter>
#include <QStandardItemModel>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/session_set.h"
#include "app/services/tune_service.h"
#include "app/services/workspace.h"
#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/records/session_store.h"
#include "widgets/charts/timeline_chart.h"
#include "widgets/common/empty_state.h"
#include "widgets/common/format.h"
#include "widgets/common/table_view.h"
#include "widgets/tuning/status_text.h"

namespace tw::app {
namespace {

constexpr int kFollowMillis = 100, kRereadMillis = 1000;
enum PathColumn { PathCandidate, PathWhere, PathBuild, PathFill, PathLoad, PathTiming, PathVerify, PathTime, PathWhy, PathColumnCount };

QString stageText(measure::Stage stage) {
  switch (stage) {
    case measure::Stage::waiting:
      return PathView::tr("waits");
    case measure::Stage::building:
      return PathView::tr("is being lowered and built");
    case measure::Stage::built:
      return PathView::tr("built, waits to be run");
    case measure::Stage::running:
      return PathView::tr("is filled, loaded, timed and verified");
    case measure::Stage::measured:
      break;
  }
  return PathView::tr("measured");
}

QString candidateText(const std::string& space, int64_t index) {
  return index >= 0 ? QStringLiteral("%1 [%2]").arg(QString::fromStdString(space)).arg(index) : QString::fromStdString(space);
}

}  // namespace

PathView::PathView(Services& services, QWidget* parent)
    : QWidget(parent),
      m_services(services),
      m_chart(new widgets::TimelineChart(this)),
      m_title(new QLabel(this)),
      m_totals(new QLabel(this)),
      m_heading(new QLabel(this)),
      m_table(new QTreeView(this)),
      m_rows(new QStandardItemModel(0, PathColumnCount, this)) {
  for (QLabel* label : {m_title, m_totals, m_heading}) {
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setContentsMargins(8, 3, 8, 3);
  }
  m_title->setObjectName(QStringLiteral("label.path.title"));
  m_totals->setObjectName(QStringLiteral("label.path.totals"));
  m_totals->setForegroundRole(QPalette::PlaceholderText);
  m_heading->setObjectName(QStringLiteral("label.path.round"));
  m_rows->setHorizontalHeaderLabels({tr("Candidate"), tr("Where"), tr("Build"), tr("Fill"), tr("Load"), tr("Timing"), tr("Verify"), tr("Time"), tr("Why")});
  const QString help[] = {tr("Template or rules, and the place in its space"),
                          tr("A candidate waits, is lowered and built, waits, is filled, loaded, timed and verified, and is stored with its round"),
                          tr("Lowering and compiling, in a process of its own"),
                          tr("Making its arguments; of the first candidate of a task their values too"),
                          tr("Loading the code"),
                          tr("Calling it often enough for times that agree; of trials of earlier versions comparing its result as well"),
                          tr("Two calls over outputs that were filled differently, and comparing the result with the reference"),
                          tr("What it is ranked by"),
                          tr("What was refused or failed, that it was stopped early, that samples were disturbed, whether its result was compared")};
  for (int c = 0; c < PathColumnCount; ++c) m_rows->horizontalHeaderItem(c)->setToolTip(help[c]);
  m_table->setModel(m_rows);
  m_table->setObjectName(QStringLiteral("table.path.candidates"));
  m_table->setAccessibleName(tr("Candidates of the round"));
  widgets::setUpTable(m_table);
  const int widths[] = {200, 180, 72, 72, 72, 72, 72, 72, 400};
  for (int c = 0; c < PathColumnCount; ++c) m_table->header()->resizeSection(c, widths[c]);
  auto* below = new QWidget(this);
  auto* inner = new QVBoxLayout(below);
  inner->setContentsMargins(0, 0, 0, 0);
  inner->setSpacing(0);
  inner->addWidget(m_heading);
  inner->addWidget(m_table, 1);
  auto* split = new QSplitter(Qt::Vertical, this);
  split->setChildrenCollapsible(false);
  split->addWidget(m_chart);
  split->addWidget(below);
  split->setStretchFactor(0, 2);
  split->setStretchFactor(1, 3);
  auto* page = new QWidget(this);
  auto* content = new QVBoxLayout(page);
  content->setContentsMargins(0, 0, 0, 0);
  content->setSpacing(0);
  content->addWidget(m_title);
  content->addWidget(m_totals);
  content->addWidget(split, 1);
  m_state = new widgets::EmptyState(page, this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_state);

  m_soon.setSingleShot(true);
  m_soon.setInterval(kFollowMillis);
  connect(&m_soon, &QTimer::timeout, this, &PathView::showSession);
  m_reread.setSingleShot(true);
  m_reread.setInterval(kRereadMillis);
  connect(&m_reread, &QTimer::timeout, this, &PathView::read);
  connect(&services.tuning, &TuneService::progressed, this, [this] {
    if (isVisible() && !m_soon.isActive()) m_soon.start();
  });
  connect(&services.tuning, &TuneService::roundsEnded, this, [this] {
    if (isVisible() && !m_reread.isActive()) m_reread.start();
  });
  connect(&services.tuning, &TuneService::sessionStarted, this, [this] { chooseRound(0); });
  connect(&services.hub, &SelectionHub::sessionChanged, this, &PathView::read);
  connect(&services.hub, &SelectionHub::modelChanged, this, &PathView::read);
  connect(&services.workspace, &Workspace::sessionsChanged, this, &PathView::read);
  connect(m_chart, &widgets::TimelineChart::roundActivated, this, &PathView::chooseRound);
  connect(m_table, &QTreeView::activated, this, [this](const QModelIndex& index) { chooseTrial(index.row()); });
  connect(m_table, &QTreeView::clicked, this, [this](const QModelIndex& index) { chooseTrial(index.row()); });
  showSession();
}

void PathView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  read();
}

void PathView::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  m_job.stop();
}

bool PathView::isLive() const { return m_services.tuning.isActive() && m_services.tuning.model() == m_services.hub.model(); }

SessionId PathView::wanted() const {
  if (!m_services.hub.model()) return {};
  return isLive() ? m_services.tuning.session() : SessionSet::nearest(m_services.hub, m_services.workspace);
}

void PathView::read() {
  const SessionId session = wanted();
  if (session != m_session) {
    m_session = session;
    m_stored = {};
    m_round = 0;
    showSession();
  }
  if (!isVisible() || !session || !m_services.workspace.summaryReader()) return;
  std::map<std::string, QString> titles;
  const OpenModelPtr& model = m_services.hub.model();
  for (size_t t = 0; model && t < model->tasks.size(); ++t)
    titles[model->tasks[t].task.key] = QStringLiteral("T%1 %2").arg(t + 1).arg(model->titleOf(static_cast<int>(t)));
  const auto work = [reader = m_services.workspace.summaryReader(), session, titles](StopToken stop) -> Expected<Stored> {
    Stored s;
    TW_TRY(s.rounds, reader->rounds(session));
    TW_TRY(s.events, reader->events(session));
    for (const records::Round& r : s.rounds) {
      if (s.ids.contains(r.task_key)) continue;
      if (stop.stop_requested()) return Error(ErrorCode::cancelled, "Another session was chosen");
      TW_TRY(const auto row, reader->task_by_key(r.task_key));
      if (!row) continue;
      s.ids[r.task_key] = row->id.value;
      const auto title = titles.find(r.task_key);
      TW_TRY(auto trials, reader->outcomes(session, row->id, 0, -1));
      // Notes of finals name the task and the beginning of its key.
      const std::string noted = row->name + " [" + row->key.substr(0, 8) + "]";
      for (db::EventRow& e : s.events)
        if (title != titles.end() && e.text.starts_with(noted)) e.text.replace(0, noted.size(), title->second.toStdString());
      s.tasks.push_back({r.task_key, title == titles.end() ? QString::fromStdString(row->name) : title->second, std::move(trials)});
    }
    return s;
  };
  m_job.replace(m_services.jobs.run<Stored>(Lane::summary, this, work, [this](Expected<Stored> stored) {
    if (stored) m_stored = *std::move(stored);
    showSession();
  }));
}

void PathView::showSession() {
  if (!m_session) {
    return m_state->showEmpty(tr("No session yet"), tr("What a session did when, where each of its candidates is, and why one was stopped early or failed, stands here."),
                              m_services.actions.get(QStringLiteral("tune.start")));
  }
  if (m_stored.rounds.empty() && !isLive()) {
    return m_state->showEmpty(tr("No rounds"), tr("The session went in no rounds, or ended before the first one: its trials stand in Trials."));
  }
  m_state->showContent();
  showTimeline();
  showTotals();
  showCandidates();
}

double PathView::extractSeconds() const {
  const auto& sessions = m_services.workspace.sessions();
  const auto row = std::find_if(sessions.begin(), sessions.end(), [&](const db::SessionRow& s) { return s.id == m_session; });
  if (row == sessions.end() || !row->host.is_object()) return 0;
  const auto known = row->host.find(records::kExtractTime);
  return known != row->host.end() && known->is_number() ? known->get<double>() : 0;
}

void PathView::showTimeline() {
  widgets::SessionTimeline timeline = widgets::timelineOf(m_stored.rounds, m_stored.tasks, m_stored.events, extractSeconds());
  const auto& phases = m_services.tuning.phases();
  if (isLive() && !phases.empty()) {
    // What began after the last round that is stored.
    const double begin = timeline.begin_s > 0 ? timeline.begin_s : phases.front().at_s, now = unix_now_s();
    timeline.begin_s = begin;
    double stored = 0;
    for (const auto& span : timeline.spans) stored = std::max(stored, span.open ? 0 : span.end_s);
    for (const auto& trial : timeline.trials) stored = std::max(stored, trial.end_s);
    std::erase_if(timeline.spans, [](const auto& span) { return span.open; });
    for (size_t i = 0; i < phases.size(); ++i) {
      const double from = std::max(stored, phases[i].at_s - begin), to = (i + 1 < phases.size() ? phases[i + 1].at_s : now) - begin;
      if (to <= from) continue;
      const std::string& name = phases[i].name;
      const auto lane = name == "build"     ? widgets::TimelineLane::build
                        : name == "measure" ? widgets::TimelineLane::measure
                        : name == "finals"  ? widgets::TimelineLane::finals
                        : name == "pause"   ? widgets::TimelineLane::pause
                                            : widgets::TimelineLane::search;
      const int task = phases[i].task;
      timeline.spans.push_back({lane, from, to, 0, task < 0 ? tr("The session waits") : QStringLiteral("T%1 %2").arg(task + 1).arg(m_services.tuning.model()->titleOf(task)), i + 1 == phases.size()});
      timeline.total_s[static_cast<size_t>(lane)] += to - from;
    }
    timeline.length_s = std::max(timeline.length_s, now - begin);
  }
  m_chart->setTimeline(std::move(timeline));
}

void PathView::showTotals() {
  const widgets::SessionTimeline& t = m_chart->timeline();
  const auto& sessions = m_services.workspace.sessions();
  const auto row = std::find_if(sessions.begin(), sessions.end(), [&](const db::SessionRow& s) { return s.id == m_session; });
  m_title->setText(tr("Session %1").arg(row == sessions.end() ? QString::number(m_session.value) : SessionSet::nameOf(*row)));
  QStringList parts;
  double known = 0;
  for (size_t i = 0; i < widgets::kTimelineLanes; ++i) {
    if (t.total_s[i] <= 0) continue;
    known += t.total_s[i];
    parts << tr("%1 %2 (%3 %)", "a part of the session, how long, its share")
                 .arg(widgets::timelineLaneText(static_cast<widgets::TimelineLane>(i)).toLower(), widgets::secondsText(t.total_s[i]), widgets::percentText(t.total_s[i] / t.length_s));
  }
  if (t.length_s > known) parts << tr("storing and the rest %1 (%2 %)").arg(widgets::secondsText(t.length_s - known), widgets::percentText((t.length_s - known) / t.length_s));
  double build = 0;
  std::array<double, 4> stages = {};
  qint64 trials = 0;
  for (const widgets::TimelineTask& task : m_stored.tasks) {
    for (const db::TrialOutcome& trial : task.trials) {
      const auto own = widgets::stagesOf(trial);
      for (size_t s = 0; s < own.size(); ++s) stages[s] += own[s];
      build += trial.build_s, ++trials;
    }
  }
  QString text = t.length_s > 0 ? tr("%1 in all: %2.").arg(widgets::secondsText(t.length_s), parts.join(QStringLiteral(", "))) : QString();
  if (trials > 0) {
    const auto mean = [&](const QString& name, double seconds) { return QStringLiteral("%1 %2").arg(name, widgets::secondsText(seconds / static_cast<double>(trials))); };
    QStringList own;
    if (build > 0) own << mean(tr("build"), build);
    for (size_t s = 0; s < stages.size(); ++s)
      if (stages[s] > 0) own << mean(widgets::trialStageText(s), stages[s]);
    if (!own.isEmpty()) text += QLatin1Char(' ') + tr("A candidate in the mean of %1: %2.").arg(widgets::countText(trials), own.join(QStringLiteral(", ")));
  }
  m_totals->setText(text);
}

void PathView::setRow(int row, const QStringList& texts, bool failed) {
  for (int c = 0; c < PathColumnCount; ++c) {
    QStandardItem* item = m_rows->item(row, c);
    if (!item) m_rows->setItem(row, c, item = new QStandardItem);
    item->setEditable(false);
    item->setTextAlignment((c >= PathBuild && c <= PathTime ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    const QString text = c == PathWhere && failed ? QString(QChar(0x2717)) + QLatin1Char(' ') + texts[c] : texts[c];
    if (item->text() != text) item->setText(text);
    item->setToolTip(c == PathWhy ? texts[c].toHtmlEscaped() : QString());
  }
}

void PathView::showCandidates() {
  if (isLive() && m_round == 0 && m_services.tuning.batch()) return showBatch();
  showRound();
}

void PathView::showBatch() {
  const SessionFeed::Batch& batch = *m_services.tuning.batch();
  m_heading->setText(tr("Now: T%1 %2, %n candidate(s)", nullptr, static_cast<int>(batch.candidates.size()))
                         .arg(batch.task + 1)
                         .arg(m_services.tuning.model()->titleOf(batch.task)));
  m_chart->setRound(0);
  m_rows->setRowCount(static_cast<int>(batch.candidates.size()));
  const double now = unix_now_s();
  for (size_t i = 0; i < batch.candidates.size(); ++i) {
    QStringList texts(PathColumnCount);
    texts[PathCandidate] = candidateText(batch.candidates[i].space, batch.candidates[i].index);
    texts[PathWhere] = stageText(batch.stages[i]);
    const QString since = widgets::secondsText(now - batch.since_s[i]);
    if (batch.stages[i] == measure::Stage::building) texts[PathBuild] = since;
    if (batch.stages[i] == measure::Stage::running) texts[PathTiming] = since;
    texts[PathWhy] = QString::fromStdString(batch.candidates[i].config);
    setRow(static_cast<int>(i), texts, false);
  }
}

void PathView::showRound() {
  const int64_t last = m_stored.rounds.empty() ? 0 : m_stored.rounds.back().number, wantedRound = m_round > 0 ? m_round : last;
  m_chart->setRound(wantedRound);
  int row = 0;
  for (const widgets::TimelineTrial& t : m_chart->timeline().trials) {
    if (t.round != wantedRound) continue;
    const db::TrialOutcome& trial = m_stored.tasks[static_cast<size_t>(t.task)].trials[t.trial];
    if (row == 0) {
      m_heading->setText(tr("Round %1: %2", "number, task").arg(wantedRound).arg(m_stored.tasks[static_cast<size_t>(t.task)].title));
    }
    QStringList texts(PathColumnCount);
    texts[PathCandidate] = candidateText(trial.space, trial.index);
    texts[PathWhere] = trial.censored ? tr("stopped early, stored") : trial.status == records::Status::ok ? tr("stored") : widgets::statusText(trial.status);
    texts[PathBuild] = trial.build_s > 0 ? widgets::secondsText(trial.build_s) : widgets::dashText();
    const auto stages = widgets::stagesOf(trial);
    for (size_t s = 0; s < stages.size(); ++s) texts[PathFill + static_cast<int>(s)] = stages[s] > 0 ? widgets::secondsText(stages[s]) : widgets::dashText();
    texts[PathTime] = std::isfinite(trial.seconds) ? widgets::secondsText(trial.seconds) : widgets::dashText();
    texts[PathWhy] = widgets::outcomeText(trial);
    setRow(row++, texts, trial.status != records::Status::ok);
  }
  m_rows->setRowCount(row);
  if (row == 0) m_heading->clear();
}

void PathView::chooseRound(int64_t round) {
  m_round = round;
  if (isVisible()) showSession();
}

void PathView::chooseTrial(int row) {
  if (isLive() && m_round == 0) return;
  const OpenModelPtr& model = m_services.hub.model();
  int at = 0;
  for (const widgets::TimelineTrial& t : m_chart->timeline().trials) {
    if (t.round != m_chart->round() || at++ != row) continue;
    const widgets::TimelineTask& task = m_stored.tasks[static_cast<size_t>(t.task)];
    if (const int number = model ? model->taskByKey(task.key) : -1; number >= 0) m_services.hub.setTrial({m_session, number, task.trials[t.trial].number});
    return;
  }
}

}  // namespace tw::app
