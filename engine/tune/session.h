// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <variant>

#include "engine/base/json.h"
#include "engine/base/stop_token.h"
#include "engine/measure/measure.h"
#include "engine/records/record_sink.h"
#include "engine/space/template.h"
#include "engine/tune/strategy.h"

namespace tw::tune {

/// A task in a session with what is known of it.
struct SessionTask {
  records::Task task;
  int weight = 1;                        ///< how often the network runs it
  std::vector<records::Record> history;  ///< trials of this session from before an interruption; they count
};

struct SessionOptions {
  std::string tuner = "random";
  Json tuner_params;  ///< object, see StrategyDef::params
  std::string space;  ///< template whose space is searched, such as AutoTVM's "dense_pack.x86"; empty: those of our own that match
  uint64_t seed = 1;
  int64_t trials = 0;           ///< over all tasks; 0: no such limit
  int64_t trials_per_task = 0;  ///< 0: no such limit
  double time_s = 0;            ///< wall time; 0: no such limit
  int batch = 16;               ///< candidates proposed, built and measured together
  int64_t early_stopping = 0;   ///< stop a task after this many trials without a better one; 0: never
  bool transfer = false;        ///< tuners that can learn from other tasks of the same template do so
  records::Weights weights = records::Weights::cold;  ///< where the constants are in the network that is tuned; trials are timed so
  int finalists = 8;            ///< of a task's trials that run against each other in the end; below 2: no finals
};

/// As stored with a session.
Json to_json(const SessionOptions& options);

// Events, in the order they happen. Values only; safe to hand to another thread.
struct SessionPlanned {
  int64_t trials = 0;  ///< over all tasks, history included; 0 if time alone limits the session
};
struct TaskStarted {
  int task = 0;
  std::string space;
  int64_t space_size = 0;
  int64_t budget = 0;
};
struct TrialDone {
  int task = 0;
  int64_t number = 0;  ///< 1-based in the task, history included
  records::Record record;
  double best_s = 0;  ///< best verified time of the task so far, infinity if none
};
struct TaskDone {
  int task = 0;
  double default_s = 0;  ///< time of the default schedule, infinity if it failed
  double best_s = 0;
  int64_t trials = 0;
  std::map<records::Status, int64_t> by_status;
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
struct Note {
  std::string text;
};  ///< something a person should know
using Event = std::variant<SessionPlanned, TaskStarted, TrialDone, FinalsDone, TaskDone, Phase, Note>;
using EventSink = std::function<void(const Event&)>;

struct SessionReport {
  std::vector<TaskDone> tasks;
  // Wall time. Searching is everything between asking for points and having them as schedules, and learning from their results.
  double build_s = 0, measure_s = 0, search_s = 0, total_s = 0;
  bool cancelled = false;
  /// The rest: storing, telling, waiting while paused.
  double idle_s() const { return std::max(0.0, total_s - build_s - measure_s - search_s); }
};

/// What an earlier session measured of a task.
struct EarlierTrials {
  records::Task task;
  std::vector<records::Record> records;
};

/// Pausing: while `paused` returns true the session waits between batches.
struct SessionControl {
  StopToken stop;
  std::function<bool()> paused;                         ///< may be empty
  const std::vector<EarlierTrials>* earlier = nullptr;  ///< with SessionOptions::transfer: what tuners may learn from beside the session itself
};

/// Tunes tasks one after another, heaviest (weight × FLOPs) first; trials and time are split in that proportion, and what a task leaves over goes to those
/// after it. The first trial of each task is the default schedule, which is measured even when the time is over; a task without a template has no other.
/// Building and measuring never overlap. A task ends with finals (finals.h). Blocks. Every batch is stored through `sink` before its events are sent; a stop
/// returns within a second with every finished trial stored. Trials of the history count against the limits and their points are not proposed again. What our
/// machinery fails at is tried once more. Errors: unsupported for an unknown tuner, invalid_argument for bad options, what `sink` returns, infrastructure after
/// 8 failures in a row that are nobody's fault; failures of candidates are records, never errors.
Expected<SessionReport> run_session(const std::vector<SessionTask>& tasks, const SessionOptions& options, measure::Builder& builder, measure::Runner& runner,
                                    records::RecordSink& sink, const EventSink& events, const SessionControl& control);

}  // namespace tw::tune
