// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/tune_service.h"

#include <QDateTime>
#include <algorithm>

#include "db/recorded.h"
#include "db/session_workspace.h"
#include "engine/api/network_finals.h"
#include "engine/api/tune.h"
#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/measure/peak.h"
#include "widgets/common/format.h"

namespace tw::app {
namespace {

constexpr int kWatchedMs = 33, kUnwatchedMs = 200;

/// Tasks are named by their keys, none if all are meant.
std::vector<std::string> filtersOf(const TuneService::Request& request) {
  std::vector<std::string> keys;
  if (request.tasks.size() == request.model->tasks.size()) return keys;
  for (const int t : request.tasks) keys.push_back(request.model->tasks[static_cast<size_t>(t)].task.key);
  return keys;
}

}  // namespace

TuneService::TuneService(Engine& engine, Workspace& workspace, QObject* parent) : QObject(parent), m_engine(engine), m_workspace(workspace) {
  m_timer.setInterval(kWatchedMs);
  connect(&m_timer, &QTimer::timeout, this, &TuneService::drain);
}

TuneService::~TuneService() {
  m_paused = false;
  if (m_thread.joinable()) {
    m_thread.request_stop();
    m_thread.join();
  }
}

void TuneService::setWatched(bool watched) { m_timer.setInterval(watched ? kWatchedMs : kUnwatchedMs); }

void TuneService::setState(State state) {
  if (m_state == state) return;
  m_state = state;
  Q_EMIT stateChanged();
}

void TuneService::start(const Request& request) {
  if (isActive() || !request.model || !m_workspace.isWritable()) return;
  if (m_thread.joinable()) m_thread.join();
  Request full = request;
  if (full.tasks.empty()) {
    for (size_t i = 0; i < full.model->tasks.size(); ++i) full.tasks.push_back(static_cast<int>(i));
  }
  // Tasks of other programs' logs have no computation that could be built.
  std::erase_if(full.tasks, [&](int t) { return !full.model->tasks[static_cast<size_t>(t)].task.dag; });
  if (full.tasks.empty()) {
    Q_EMIT failed(tr("Nothing can be tuned: the log that the tasks came from does not hold their computations."));
    return;
  }
  m_model = full.model;
  const std::string device = full.device.empty() ? measure::device_for(full.model->target) : full.device;
  m_kind = !full.replay.empty() ? db::TimeKind::replayed : measure::is_simulated(device) ? db::TimeKind::simulated : db::TimeKind::measured;
  m_device = full.device;
  m_session = {};
  m_progress.clear();
  m_rounds.clear();
  m_phases.clear();
  m_batch.reset();
  for (const int t : full.tasks) {
    TaskProgress p;
    p.task = t;
    p.store = std::make_shared<widgets::TrialStore>(static_cast<double>(m_model->tasks[static_cast<size_t>(t)].task.flops));
    m_progress.push_back(p);
  }
  m_currentTask = -1;
  m_trialsDone = m_trialsBefore = 0;
  m_trialsPlanned = 0;
  m_endedBecause.clear();
  m_startedAt = unix_now_s();
  m_endedAt = m_pausedAt = m_pausedS = m_workedBefore = 0;
  m_cancelled = false;
  m_paused = false;
  m_dropped = 0;
  m_feed = std::make_shared<SessionFeed>();
  m_thread = std::jthread([this, full, database = m_workspace.database()](StopToken stop) { body(full, database, stop); });
  m_timer.start();
  setState(State::running);
}

void TuneService::body(const Request& request, const std::shared_ptr<db::Database>& database, StopToken stop) {
  std::optional<Expected<tune::SessionReport>> result;
  try {
    result.emplace(tuneAll(request, database, stop));
  } catch (const std::exception& e) {
    result.emplace(Error(ErrorCode::internal, e.what()));
  }
  m_feed->end(std::move(*result));
}

void TuneService::resume(const OpenModelPtr& model, const db::SessionRow& session) {
  Request request{model, {}, {}, session.id};
  auto options = tune::session_options(session.options);
  if (!options) {
    Q_EMIT failed(tr("Session %1 cannot go on: %2").arg(session.id.value).arg(QString::fromStdString(options.error().text())));
    return;
  }
  request.options = *std::move(options);
  try {
    // Times of another device, such as a GPU that is there by now where it was simulated, would be taken for this one's.
    const auto device = session.options.value("device", std::string());
    if (session.kind != db::TimeKind::replayed && device != measure::device_for(model->target)) request.device = device;
    if (session.kind == db::TimeKind::replayed) request.replay = session.options.value("device", std::string()).substr(records::kRecordedDevice.size());
    const auto filters = session.options.value("task_filters", std::vector<std::string>());
    for (size_t t = 0; t < model->tasks.size() && !filters.empty(); ++t) {
      const records::Task& task = model->tasks[t].task;
      const auto matches = [&](const std::string& f) { return task.name.find(f) != std::string::npos || task.key.starts_with(f); };
      if (std::any_of(filters.begin(), filters.end(), matches)) request.tasks.push_back(static_cast<int>(t));
    }
    if (!filters.empty() && request.tasks.empty()) {
      Q_EMIT failed(tr("Session %1 cannot go on: the model has none of its tasks").arg(session.id.value));
      return;
    }
  } catch (const Json::exception& e) {
    Q_EMIT failed(tr("Session %1 cannot go on: its options cannot be read (%2)").arg(session.id.value).arg(QString::fromUtf8(e.what())));
    return;
  }
  start(request);
}

Expected<tune::SessionReport> TuneService::tuneAll(const Request& request, const std::shared_ptr<db::Database>& database, StopToken stop) {
  const Target& target = request.model->target;
  api::TuneRequest session{.filters = filtersOf(request),
                           .target = target,
                           .options = request.options,
                           .device = !request.replay.empty()   ? std::string(records::kRecordedDevice) + request.replay
                                     : !request.device.empty() ? request.device
                                                               : measure::device_for(target),
                           .resume = static_cast<bool>(request.resumed),
                           .session = request.resumed,
                           .race = request.race};
  if (session.options.weights == records::Weights::unknown) session.options.weights = api::weights_of(request.model->network, target);
  for (const int t : request.tasks) {
    const auto& task = request.model->tasks[static_cast<size_t>(t)];
    session.tasks.push_back({task.task, task.weight, {}});
  }
  api::TuneHooks hooks;
  hooks.events = [this](const tune::Event& e) { m_feed->tell(e); };
  hooks.begun = [this, database](SessionId id, const std::vector<int64_t>& trials) {
    double worked_s = 0, paused_s = 0;
    if (const auto sessions = database->sessions())
      for (const db::SessionRow& row : *sessions)
        if (row.id == id) paused_s = row.paused_s, worked_s = unix_now_s() - row.started_s - paused_s;
    m_feed->begin(id, trials, worked_s, paused_s);
  };
  hooks.paused = [this] { return m_paused.load(); };
  hooks.stop = stop;
  if (request.device.empty()) hooks.loop = [this](const auto& tasks, const auto& options, auto& sink, const auto& events, const auto& control, const auto& replay) {
    return m_engine.tune(tasks, options, sink, events, control, replay);
  };
  Json host = m_engine.host(target);
  if (const auto peak = m_engine.peak(target)) host[measure::kPeakOfHost] = *peak;
  if (request.model->extractSeconds > 0) host[records::kExtractTime] = request.model->extractSeconds;
  const auto store = db::session_store(database, request.model->id, host);
  TW_TRY(api::TuneOutcome outcome, api::tune(std::move(session), *store, hooks));
  return std::move(outcome.report);
}

void TuneService::drain() {
  const SessionFeed::State state = m_feed->take();
  if (state.session && !m_session) {
    m_session = state.session;
    Q_EMIT sessionStarted();
  }
  const auto taskOf = [this](int task) { return task < 0 ? -1 : m_progress.at(static_cast<size_t>(task)).task; };
  for (const SessionFeed::Phase& phase : state.phases) m_phases.push_back({taskOf(phase.task), phase.name, phase.at_s});
  m_batch = state.batch;
  if (m_batch) m_batch->task = taskOf(m_batch->task);
  apply(state);
  if (!state.rounds.empty()) {
    m_rounds.insert(m_rounds.end(), state.rounds.begin(), state.rounds.end());
    Q_EMIT roundsEnded();
  }
  for (const tune::TaskDone& done : state.done) noteDone(done);
  for (const std::string& text : state.notes) Q_EMIT note(QString::fromStdString(text));
  std::vector<int> changed;
  for (const int task : state.changed) changed.push_back(m_progress.at(static_cast<size_t>(task)).task);
  if (!changed.empty()) Q_EMIT progressed(changed);
  if (state.end) end(*state.end);
}

void TuneService::apply(const SessionFeed::State& state) {
  m_trialsPlanned = state.planned;
  m_trialsDone = state.trials;
  m_trialsBefore = state.before;
  m_workedBefore = state.workedBefore_s;
  m_dropped += state.dropped;
  if (state.currentTask >= 0) m_currentTask = m_progress.at(static_cast<size_t>(state.currentTask)).task;
  for (const SessionFeed::Trial& trial : state.fresh) {
    widgets::TrialStore& store = *m_progress.at(static_cast<size_t>(trial.task)).store;
    if (trial.outcome.number != store.lastNumber() + 1) continue;
    db::TrialOutcome outcome = trial.outcome;
    outcome.session = m_session;
    store.append(outcome);
  }
  for (const auto& [task, finalists] : state.settled)
    for (const records::Record& r : finalists) m_progress.at(static_cast<size_t>(task)).store->settle(r.candidate, r.result.decided_s());
  for (const int task : state.changed) {
    TaskProgress& p = m_progress.at(static_cast<size_t>(task));
    const SessionFeed::TaskState& told = state.tasks.at(task);
    p.budget = told.budget, p.bestSeconds = told.bestSeconds, p.defaultSeconds = told.defaultSeconds, p.lastNumber = told.lastNumber;
    p.before = told.before;
    p.phase = QString::fromStdString(told.phase);
    catchUp(static_cast<size_t>(task));
  }
}

void TuneService::catchUp(size_t task) {
  TaskProgress& p = m_progress.at(task);
  if (p.reading || p.store->lastNumber() >= p.lastNumber || !m_workspace.reader()) return;  // none: another workspace is being opened meanwhile
  const auto& ids = m_model->taskIds;
  if (static_cast<size_t>(p.task) >= ids.size()) return;
  p.reading = true;
  using Rows = std::vector<db::TrialOutcome>;
  const auto work = [reader = m_workspace.reader(), session = m_session, id = ids[static_cast<size_t>(p.task)],
                     after = p.store->lastNumber()](StopToken) -> Expected<Rows> { return reader->outcomes(session, id, after, 2 * SessionFeed::kTrials); };
  m_workspace.jobs().run<Rows>(Lane::database, this, work, [this, task, store = p.store, reader = m_workspace.reader()](Expected<Rows> rows) {
    if (task >= m_progress.size() || m_progress[task].store != store) return;  // of an earlier session
    m_progress[task].reading = false;
    if (m_workspace.reader() != reader) return;  // the session is of another workspace
    if (!rows) {
      Q_EMIT failed(tr("Trials cannot be read back: %1").arg(QString::fromStdString(rows.error().text())));
      return;
    }
    for (const db::TrialOutcome& row : *rows) {
      if (row.number <= store->lastNumber()) continue;
      store->append(row);
      if (row.number <= m_progress[task].before && row.status != records::Status::ok) ++m_progress[task].failuresBefore;
    }
    if (!rows->empty()) catchUp(task);
    Q_EMIT progressed({m_progress[task].task});
  });
}

bool TuneService::isCatchingUp() const {
  return std::any_of(m_progress.begin(), m_progress.end(), [](const TaskProgress& p) { return p.store->lastNumber() < p.lastNumber; });
}

void TuneService::noteDone(const tune::TaskDone& done) {
  const TaskProgress& p = m_progress.at(static_cast<size_t>(done.task));
  const QString name = m_model->titleOf(p.task);
  Q_EMIT note(tr("Task T%1 %2: best %3, default %4, %5 trials")
                  .arg(p.task + 1)
                  .arg(name, widgets::secondsText(done.best_s), widgets::secondsText(done.default_s))
                  .arg(done.trials) +
              (done.without_finals ? tr("; without finals, so that the best may be luck: they are made up when the session goes on") : QString()));
}

void TuneService::end(const Expected<tune::SessionReport>& report) {
  m_timer.stop();
  m_endedAt = unix_now_s();
  m_batch.reset();
  leavePause();
  m_cancelled = report && report->cancelled;
  std::vector<int> all;
  for (TaskProgress& p : m_progress) p.phase.clear(), all.push_back(p.task);
  m_currentTask = -1;
  setState(State::idle);
  Q_EMIT progressed(all);
  if (!report) {
    Q_EMIT failed(tr("Tuning stopped: %1").arg(QString::fromStdString(report.error().text())));
    return;
  }
  m_endedBecause = QString::fromStdString(report->ended);
  if (!m_endedBecause.isEmpty()) Q_EMIT note(m_endedBecause);
  const QString what = report->cancelled ? tr("cancelled") : tr("done");
  const QString spent = tr("build %1, measure %2, search %3").arg(widgets::secondsText(report->build_s), widgets::secondsText(report->measure_s), widgets::secondsText(report->search_s));
  Q_EMIT finished(tr("Session %1 %2: %3 trials in %4 (%5)")
                      .arg(m_session.value)
                      .arg(what)
                      .arg(m_trialsDone)
                      .arg(widgets::durationText(elapsedSeconds()), m_trialsBefore > 0 ? tr("since it went on: %1").arg(spent) : spent) +
                  (m_endedBecause.isEmpty() ? QString() : QStringLiteral(". ") + m_endedBecause));
}

void TuneService::setPaused(bool paused) {
  if (m_state != State::running && m_state != State::paused) return;
  if (paused && m_pausedAt == 0) m_phases.push_back({-1, "pause", m_pausedAt = unix_now_s()});
  if (!paused) leavePause();
  m_paused = paused;
  setState(paused ? State::paused : State::running);
}

void TuneService::cancel() {
  if (!isActive() || m_state == State::stopping) return;
  setState(State::stopping);
  leavePause();
  m_paused = false;
  m_thread.request_stop();
}

const TuneService::TaskProgress* TuneService::progress(int modelTask) const {
  for (const TaskProgress& p : m_progress) {
    if (p.task == modelTask) return &p;
  }
  return nullptr;
}

void TuneService::leavePause() {
  if (m_pausedAt > 0) m_pausedS += unix_now_s() - m_pausedAt;
  m_pausedAt = 0;
}

double TuneService::secondsSinceStart() const {
  if (m_startedAt == 0) return 0;
  const double now = m_endedAt > 0 ? m_endedAt : m_pausedAt > 0 ? m_pausedAt : unix_now_s();
  return now - m_startedAt - m_pausedS;
}

double TuneService::elapsedSeconds() const { return m_workedBefore + secondsSinceStart(); }

double TuneService::trialsPerSecond() const {
  constexpr double kLeast = 0.1;  // before which a rate says nothing
  return static_cast<double>(m_trialsDone - m_trialsBefore) / std::max(kLeast, secondsSinceStart());
}

double TuneService::secondsLeft() const {
  const double rate = trialsPerSecond();
  return rate > 0 && m_trialsPlanned > 0 ? static_cast<double>(std::max<qint64>(0, m_trialsPlanned - m_trialsDone)) / rate : -1;
}

}  // namespace tw::app
