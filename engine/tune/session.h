// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <variant>

#include "engine/base/stop_token.h"
#include "engine/measure/measure.h"
#include "engine/records/record_sink.h"
#include "engine/tune/model_check.h"
#include "engine/tune/session_options.h"
#include "engine/tune/strategy.h"

namespace tw::tune {

/// A task in a session with what is known of it.
struct SessionTask {
  records::Task task;
  int weight = 1;                        ///< how often the network runs it
  std::vector<records::Record> history;  ///< trials of this session from before an interruption, in their order; they count
};

// Events, in the order they happen. Values only; safe to hand to another thread.
struct SessionPlanned {
  int64_t trials = 0;  ///< over all tasks, history included; 0 if time alone limits the session
};
/// Sent once a task, before its first round.
struct TaskStarted {
  int task = 0;
  std::string space;
  int64_t space_size = 0;
};
struct RoundStarted {
  int task = 0;
  int64_t number = 0;
  int64_t trials = 0;  ///< asked for
  int64_t budget = 0;  ///< trials that the task is to have in all, as things stand; 0: that is open
  std::string why;
};
struct TrialDone {
  int task = 0;
  int64_t number = 0;  ///< 1-based in the task, history included
  records::Record record;
  double best_s = 0;  ///< best verified time of the task so far, infinity if none
  double paused_s = 0;  ///< of the session since it began or went on
};
/// A round is over and stored.
struct RoundDone {
  int task = 0;
  records::Round round;
  ModelCheck models = {};  ///< of the session so far
};
struct TaskDone {
  int task = 0;
  double default_s = 0;  ///< time of the default schedule, infinity if it failed
  double best_s = 0;
  int64_t trials = 0;
  std::map<records::Status, int64_t> by_status;
  bool without_finals = false;  ///< they were due and did not come about: `best_s` is the fastest of noisy times. They are made up when the session goes on
};
/// The fastest trials of a task ran against each other. Records with `verdict`, the one that was fastest before first.
struct FinalsDone {
  int task = 0;
  std::vector<records::Record> finalists;
  double best_s = 0;  ///< of the task from now on
};
struct Phase {
  int task = 0;
  std::string name;
};  ///< "search", "build", "measure", "finals"
/// A batch is about to be built and measured: its candidates, by their choices.
struct BatchBegun {
  int task = 0;
  std::vector<records::Candidate> candidates;  ///< without steps
};
/// One of them came to another stage. Results follow as TrialDone once all are measured and stored.
struct CandidateMoved {
  int task = 0;
  size_t place = 0;  ///< in the batch
  measure::Stage stage = measure::Stage::waiting;
};
struct Note {
  std::string text;
};  ///< something a person should know
using Event = std::variant<SessionPlanned, TaskStarted, RoundStarted, TrialDone, RoundDone, FinalsDone, TaskDone, Phase, BatchBegun, CandidateMoved, Note>;
using EventSink = std::function<void(const Event&)>;

struct SessionReport {
  std::vector<TaskDone> tasks;
  // Wall time. Searching is everything between asking for candidates and having them as schedules, and learning from their results.
  double build_s = 0, measure_s = 0, search_s = 0, paused_s = 0, total_s = 0;
  std::vector<records::Round> rounds;  ///< those from before an interruption included: the network's curve
  double network_s = 0;  ///< sum of weight x best over the tasks, infinity while one has none
  ModelCheck models;     ///< how well predictions agreed with what was measured
  std::string ended;     ///< why it has nothing left to do, if it ended before its limits; else empty
  bool cancelled = false;
  /// Whether at least one trial had a time.
  bool anything_measured() const {
    return std::any_of(tasks.begin(), tasks.end(), [](const TaskDone& t) { return t.by_status.contains(records::Status::ok); });
  }
  /// The rest: storing, telling.
  double idle_s() const { return std::max(0.0, total_s - build_s - measure_s - search_s - paused_s); }
};

/// Pausing: while `paused` returns true the session waits between rounds.
struct SessionControl {
  StopToken stop;
  std::function<bool()> paused = {};                 ///< may be empty
  const std::vector<PriorTask>* earlier = nullptr;   ///< with SessionOptions::transfer: what tuners may learn from beside the session itself
  const std::vector<records::Round>* rounds = nullptr;  ///< of this session from before an interruption, ascending; the tasks' histories hold their trials
};

/// Tunes tasks in rounds. First every task has its default schedule measured, heaviest (weight x FLOPs) first, even when the time is over; then the scheduler
/// chooses a task for each round, whose strategy proposes a batch of candidates. A task ends with finals (finals.h) once the scheduler is done with it. Building
/// and measuring never overlap. Blocks. Every batch is stored through `sink`, with its round, before its events are sent; a stop returns within a second with
/// every finished trial stored.
/// A session that goes on counts the trials of its history, asks its strategies again what they asked then, so that they stand where they stood, and finishes
/// the round that was cut off; where a strategy asks something else, as one of another version may, it is only told what was measured. Candidates of the history
/// are not proposed again, and finals that were cut off are made up.
/// What our machinery fails at is tried once more. Errors: unsupported for an unknown tuner, invalid_argument for bad options, what `sink` returns,
/// infrastructure after 8 failures in a row that are nobody's fault; failures of candidates are records, never errors.
Expected<SessionReport> run_session(const std::vector<SessionTask>& tasks, const SessionOptions& options, measure::Builder& builder, measure::Runner& runner,
                                    records::RecordSink& sink, const EventSink& events, const SessionControl& control);

}  // namespace tw::tune
