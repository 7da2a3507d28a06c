// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/worker_pool.h"
#include "engine/tune/drift.h"
#include "engine/tune/measure_batch.h"
#include "engine/tune/scheduler.h"
#include "engine/tune/session.h"

namespace tw::tune {

/// What all tasks of a session share.
struct SessionContext {
  const SessionOptions& options;
  const StrategyDef& strategy;
  BatchMeasurer& measurer;
  records::RecordSink& sink;
  const EventSink& events;
  const SessionControl& control;
  PhaseTimes& times;
  WorkerPool& workers;  ///< for searching; what comes out does not depend on how many there are
  cost::SharedModel* shared_model = nullptr;  ///< that all tasks' strategies ask and teach, if the session has one
  int64_t infra_in_a_row = 0;
  DriftGate drift = {};
  int64_t epoch = 0;  ///< counts the machine's changes of speed

  void send(const Event& event) const {
    if (events) events(event);
  }
};

/// The tuning of one task, round by round.
class TaskRun {
 public:
  /// `task` outlives the run.
  TaskRun(int number, const SessionTask& task, SessionContext& context);

  /// What a scheduler sees of it.
  const TaskView& view() const { return view_; }
  const records::Task& task() const { return task_.task; }
  bool has_default() const { return default_done_; }
  /// Whether enough trials brought nothing better.
  bool early_stop() const;
  const std::vector<records::Record>& records() const { return records_; }
  /// What was predicted of the trials so far and what was measured; of the candidates the names of their spaces alone, since steps are long.
  const std::vector<records::Record>& outcomes() const { return outcomes_; }

  /// Takes back a round of the history: its trials are the first that were not taken yet. With `ask` the strategy is asked for them again; should it ask for
  /// others now, it begins anew and is told of all.
  void restore(const records::Round& round, bool ask);
  /// Takes back trials that belong to no round.
  void restore_rest();
  /// Whether the last round was cut off before it had all that its strategy asked for.
  bool was_cut_off(const records::Round& last) const;

  /// Before the first round of its search: tells the strategy what was measured of other tasks.
  void begin(std::span<const PriorTask> prior);
  bool begun() const { return begun_; }
  /// Measures the default schedule, which has no part in any search. Stores it with `round`, of which it fills in what it knows.
  Expected<void> measure_default(records::Round& round);
  /// Up to round.planned - round.trials candidates more. Fewer mean that there are no others, or a stop.
  Expected<void> run(records::Round& round);
  /// The finals, if they are due.
  Expected<void> finish();
  TaskDone done() const;

  /// Called with a round before it is stored, to fill in what only the session knows.
  std::function<void(records::Round&)> complete;

 private:
  void make_strategy();
  void announce();
  /// Asks the strategy for the candidates of a round of the history; true if these were among them. Those that were not measured are pending then.
  bool is_asked_again(std::span<const records::Record> taken, int64_t planned);
  /// The next `count` trials of the history.
  std::span<const records::Record> take(int64_t count);
  Expected<void> run_batch(const std::vector<Proposal>& batch, records::Round& round);
  void account(const records::Record& record);
  void learn(std::span<const records::Record> records);
  records::MeasureResult comparable(records::MeasureResult result) const;  ///< on the scale of the epoch in which the task began
  void end_round(const records::Round& round);
  /// Looks whether the machine still is as fast as it was. If not, the leaders are measured again, so that later times can be compared with earlier ones.
  Expected<void> look_for_drift(int64_t trials);
  Expected<void> begin_epoch();

  int number_;
  const SessionTask& task_;
  SessionContext& context_;
  TaskView view_;
  std::unique_ptr<Strategy> strategy_;
  std::vector<Proposal> pending_;          ///< asked for in a round that was cut off
  std::vector<records::Record> outcomes_;
  std::vector<records::Record> records_;   ///< trials so far, if others may learn from them
  size_t restored_ = 0;                    ///< of the history
  records::Round ended_;                   ///< the last one
  bool announced_ = false, begun_ = false;
  bool asked_ = true;                      ///< see restore()
  bool default_done_ = false, finals_due_ = false;
  int64_t trials_of_best_ = 0;
  double default_s_, best_s_;
  /// A trial with its time on the scale of the epoch in which the task began.
  struct Leader {
    records::Record record;
    double seconds;
  };
  std::vector<Leader> leaders_;             ///< the fastest verified trials, fastest first
  std::optional<records::Record> lowest_;   ///< with the least time as it was measured; another than the first leader if the machine's speed changed
  std::optional<records::Record> default_;  ///< the default schedule's, if it ran
  double scale_ = 1;                        ///< times of this epoch ÷ times of the epoch in which the task began
  int64_t epoch_;
  std::map<records::Status, int64_t> by_status_;
};

}  // namespace tw::tune
