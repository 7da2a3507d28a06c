// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/tune_service.h"

#include <QDateTime>
#include <cmath>

#include "engine/base/json.h"
#include "widgets/common/format.h"

namespace tw::app {
namespace {

constexpr int kWatchedMs = 33, kUnwatchedMs = 200;

/// As `tw tune` stores it, so that it can go on with the session: tasks are named by their keys, none if all are meant.
Json sessionJson(const TuneService::Request& request) {
  Json json = tune::to_json(request.options);
  Json keys = Json::array();
  if (request.tasks.size() < request.model->tasks.size()) {
    for (const int t : request.tasks) keys.push_back(request.model->tasks[static_cast<size_t>(t)].task.key);
  }
  json["task_filters"] = keys;
  return json;
}

double now() { return static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1e3; }

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
  m_model = full.model;
  m_session = {};
  m_progress.clear();
  for (const int t : full.tasks) {
    TaskProgress p;
    p.task = t;
    p.store = std::make_shared<widgets::TrialStore>(static_cast<double>(m_model->tasks[static_cast<size_t>(t)].task.flops));
    m_progress.push_back(p);
  }
  m_currentTask = -1;
  m_trialsDone = 0;
  m_trialsPlanned = 0;
  m_startedAt = now();
  m_endedAt = 0;
  m_paused = false;
  m_inbox = {};
  m_thread = std::jthread([this, full](StopToken stop) { body(full, stop); });
  m_timer.start();
  setState(State::running);
}

void TuneService::body(const Request& request, StopToken stop) {
  std::optional<Expected<tune::SessionReport>> result;
  try {
    result.emplace(tuneAll(request, stop));
  } catch (const std::exception& e) {
    result.emplace(Error(ErrorCode::internal, e.what()));
  }
  const std::scoped_lock lock(m_mutex);
  m_inbox.end = std::move(result);
}

Expected<tune::SessionReport> TuneService::tuneAll(const Request& request, StopToken stop) {
  const std::shared_ptr<db::Database> database = m_workspace.database();
  TW_TRY(const SessionId session,
         database->begin_session(request.model->id, request.options.tuner, request.model->target.str(), sessionJson(request), m_engine.host()));
  {
    const std::scoped_lock lock(m_mutex);
    m_inbox.session = session;
  }
  std::vector<tune::SessionTask> tasks;
  for (const int t : request.tasks) {
    const auto& task = request.model->tasks[static_cast<size_t>(t)];
    tasks.push_back({task.task, task.weight, {}});
  }
  const auto sink = db::session_sink(database, session);
  tune::SessionControl control{stop, [this] { return m_paused.load(); }};
  auto report = m_engine.tune(
      tasks, request.options, *sink, [this](const tune::Event& e) { receive(e); }, control);
  const char* state = !report ? "interrupted" : report->cancelled ? "cancelled" : "done";
  auto ended = database->end_session(session, state);
  if (report && !ended) return ended.error();
  return report;
}

void TuneService::receive(const tune::Event& event) {
  const std::scoped_lock lock(m_mutex);
  m_inbox.events.push_back(event);
  // The steps are in the database; the buffer need not carry them.
  if (auto* trial = std::get_if<tune::TrialDone>(&m_inbox.events.back())) trial->record.candidate.steps.clear();
}

void TuneService::drain() {
  Inbox inbox;
  {
    const std::scoped_lock lock(m_mutex);
    std::swap(inbox, m_inbox);
    m_inbox.session = inbox.session;
  }
  if (inbox.session && !m_session) {
    m_session = inbox.session;
    Q_EMIT sessionStarted();
  }
  std::vector<int> changed;
  for (const tune::Event& event : inbox.events) apply(event, changed);
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  if (!changed.empty()) Q_EMIT progressed(changed);
  if (inbox.end) end(*inbox.end);
}

void TuneService::apply(const tune::Event& event, std::vector<int>& changed) {
  const auto progressOf = [&](int sessionTask) -> TaskProgress& {
    TaskProgress& p = m_progress.at(static_cast<size_t>(sessionTask));
    changed.push_back(p.task);
    return p;
  };
  if (const auto* planned = std::get_if<tune::SessionPlanned>(&event)) {
    m_trialsPlanned = planned->trials;
  } else if (const auto* started = std::get_if<tune::TaskStarted>(&event)) {
    TaskProgress& p = progressOf(started->task);
    p.budget = started->budget;
    m_currentTask = p.task;
  } else if (const auto* trial = std::get_if<tune::TrialDone>(&event)) {
    TaskProgress& p = progressOf(trial->task);
    p.store->append(trial->number, trial->record);
    ++m_trialsDone;
    m_currentTask = p.task;
    if (std::isfinite(trial->best_s)) p.bestSeconds = trial->best_s;
    if (trial->record.candidate.space == "default" && trial->record.result.ok()) p.defaultSeconds = trial->record.result.seconds();
  } else if (const auto* finals = std::get_if<tune::FinalsDone>(&event)) {
    TaskProgress& p = progressOf(finals->task);
    if (std::isfinite(finals->best_s)) p.bestSeconds = finals->best_s;
  } else if (const auto* done = std::get_if<tune::TaskDone>(&event)) {
    TaskProgress& p = progressOf(done->task);
    p.phase.clear();
    if (std::isfinite(done->default_s)) p.defaultSeconds = done->default_s;
    if (std::isfinite(done->best_s)) p.bestSeconds = done->best_s;
    const QString name = QString::fromStdString(m_model->tasks[static_cast<size_t>(p.task)].task.name);
    Q_EMIT note(tr("Task T%1 %2: best %3, default %4, %5 trials")
                    .arg(p.task + 1)
                    .arg(name, widgets::secondsText(done->best_s), widgets::secondsText(done->default_s))
                    .arg(done->trials));
  } else if (const auto* phase = std::get_if<tune::Phase>(&event)) {
    TaskProgress& p = progressOf(phase->task);
    m_currentTask = p.task;
    p.phase = QString::fromStdString(phase->name);
  } else if (const auto* text = std::get_if<tune::Note>(&event)) {
    Q_EMIT note(QString::fromStdString(text->text));
  }
}

void TuneService::end(const Expected<tune::SessionReport>& report) {
  m_timer.stop();
  m_endedAt = now();
  std::vector<int> all;
  for (TaskProgress& p : m_progress) p.phase.clear(), all.push_back(p.task);
  m_currentTask = -1;
  setState(State::idle);
  Q_EMIT progressed(all);
  if (!report) {
    Q_EMIT failed(tr("Tuning stopped: %1").arg(QString::fromStdString(report.error().text())));
    return;
  }
  const QString what = report->cancelled ? tr("cancelled") : tr("done");
  Q_EMIT finished(tr("Session %1 %2: %3 trials in %4 (build %5, measure %6, search %7)")
                      .arg(m_session.value)
                      .arg(what)
                      .arg(m_trialsDone)
                      .arg(widgets::durationText(report->total_s), widgets::secondsText(report->build_s), widgets::secondsText(report->measure_s),
                           widgets::secondsText(report->search_s)));
}

void TuneService::setPaused(bool paused) {
  if (m_state != State::running && m_state != State::paused) return;
  m_paused = paused;
  setState(paused ? State::paused : State::running);
}

void TuneService::cancel() {
  if (!isActive() || m_state == State::stopping) return;
  setState(State::stopping);
  m_paused = false;
  m_thread.request_stop();
}

const TuneService::TaskProgress* TuneService::progress(int modelTask) const {
  for (const TaskProgress& p : m_progress) {
    if (p.task == modelTask) return &p;
  }
  return nullptr;
}

double TuneService::elapsedSeconds() const { return m_startedAt == 0 ? 0 : (m_endedAt > 0 ? m_endedAt : now()) - m_startedAt; }

}  // namespace tw::app
