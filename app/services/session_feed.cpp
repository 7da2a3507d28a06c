// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/session_feed.h"

#include <algorithm>
#include <cmath>

#include "engine/base/clock.h"

namespace tw::app {
namespace {

void know(double& seconds, double told) {
  if (std::isfinite(told) && told > 0) seconds = told;
}

}  // namespace

void SessionFeed::begin(SessionId session, const std::vector<int64_t>& trials, double worked_s, double paused_s) {
  const std::scoped_lock lock(m_mutex);
  m_state.session = session;
  m_state.workedBefore_s = worked_s, m_state.pausedBefore_s = paused_s;
  for (size_t task = 0; task < trials.size(); ++task) {
    if (trials[task] == 0) continue;
    m_state.trials += trials[task];
    m_state.before += trials[task];
    TaskState& of_task = m_state.tasks[static_cast<int>(task)];
    of_task.lastNumber = of_task.before = trials[task];
    change(static_cast<int>(task));
  }
}

void SessionFeed::end(Expected<tune::SessionReport> report) {
  const std::scoped_lock lock(m_mutex);
  m_state.end.emplace(std::move(report));
}

void SessionFeed::change(int task) {
  const auto at = std::lower_bound(m_state.changed.begin(), m_state.changed.end(), task);
  if (at == m_state.changed.end() || *at != task) m_state.changed.insert(at, task);
}

void SessionFeed::tell(const tune::Event& event) {
  const std::scoped_lock lock(m_mutex);
  State& s = m_state;
  if (const auto* planned = std::get_if<tune::SessionPlanned>(&event)) {
    s.planned = planned->trials;
  } else if (const auto* started = std::get_if<tune::TaskStarted>(&event)) {
    change(started->task);
  } else if (const auto* round = std::get_if<tune::RoundStarted>(&event)) {
    s.tasks[round->task].budget = round->budget;
    s.currentTask = round->task;
    change(round->task);
  } else if (const auto* done = std::get_if<tune::RoundDone>(&event)) {
    s.rounds.push_back(done->round);
    s.batch.reset();
  } else if (const auto* trial = std::get_if<tune::TrialDone>(&event)) {
    TaskState& task = s.tasks[trial->task];
    task.lastNumber = trial->number;
    know(task.bestSeconds, trial->best_s);
    if (trial->record.candidate.is_default() && trial->record.result.ok()) know(task.defaultSeconds, trial->record.result.decided_s());
    s.currentTask = trial->task;
    ++s.trials;
    if (s.fresh.size() < kTrials) {
      s.fresh.push_back({trial->task, db::outcome_of(trial->number, trial->record)});
      s.fresh.back().outcome.paused_s = s.pausedBefore_s + trial->paused_s;
    } else {
      ++s.dropped;
    }
    change(trial->task);
  } else if (const auto* finals = std::get_if<tune::FinalsDone>(&event)) {
    know(s.tasks[finals->task].bestSeconds, finals->best_s);
    s.settled.emplace_back(finals->task, finals->finalists);
    change(finals->task);
  } else if (const auto* done = std::get_if<tune::TaskDone>(&event)) {
    TaskState& task = s.tasks[done->task];
    task.phase.clear();
    know(task.defaultSeconds, done->default_s);
    know(task.bestSeconds, done->best_s);
    s.done.push_back(*done);
    change(done->task);
  } else if (const auto* phase = std::get_if<tune::Phase>(&event)) {
    s.tasks[phase->task].phase = phase->name;
    s.currentTask = phase->task;
    s.phases.push_back({phase->task, phase->name, unix_now_s()});
    change(phase->task);
  } else if (const auto* begun = std::get_if<tune::BatchBegun>(&event)) {
    const size_t count = begun->candidates.size();
    s.batch = Batch{begun->task, begun->candidates, std::vector(count, measure::Stage::waiting), std::vector(count, unix_now_s())};
  } else if (const auto* moved = std::get_if<tune::CandidateMoved>(&event)) {
    if (s.batch && moved->place < s.batch->stages.size()) s.batch->stages[moved->place] = moved->stage, s.batch->since_s[moved->place] = unix_now_s();
  } else if (const auto* note = std::get_if<tune::Note>(&event)) {
    if (s.notes.size() < kNotes) s.notes.push_back(note->text);
  }
}

SessionFeed::State SessionFeed::take() {
  const std::scoped_lock lock(m_mutex);
  State next;
  next.session = m_state.session, next.planned = m_state.planned, next.trials = m_state.trials, next.before = m_state.before, next.currentTask = m_state.currentTask;
  next.workedBefore_s = m_state.workedBefore_s, next.pausedBefore_s = m_state.pausedBefore_s;
  next.tasks = m_state.tasks;
  next.batch = m_state.batch;
  std::swap(next, m_state);
  return next;
}

}  // namespace tw::app
