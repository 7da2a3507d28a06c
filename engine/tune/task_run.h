// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <unordered_set>

#include "engine/base/json_fwd.h"
#include "engine/tune/drift.h"
#include "engine/tune/measure_batch.h"

namespace tw::tune {

/// What all tasks of a session share.
struct SessionContext {
  const SessionOptions& options;
  const StrategyDef& strategy;
  const Json& params;
  BatchMeasurer& measurer;
  records::RecordSink& sink;
  const EventSink& events;
  const SessionControl& control;
  PhaseTimes& times;
  int64_t infra_in_a_row = 0;
  double paused_s = 0;
  DriftGate drift = {};
  int64_t epoch = 0;                                   ///< counts the machine's changes of speed
  std::vector<std::unique_ptr<PriorTask>> prior = {};  ///< what may be learned from: earlier sessions and the tasks that are done

  /// Adds trials of a task that has a template.
  void add_prior(const records::Task& task, const std::vector<records::Record>& records);

  void send(const Event& event) const {
    if (events) events(event);
  }
  /// Waits while the session is paused; seconds waited.
  double wait_while_paused();
};

/// The tuning of one task. Where several templates match it, each has a search of its own, and batches are shared among them; one that stays far behind
/// another waits until that has nothing left.
class TaskRun {
 public:
  /// `task` outlives the run.
  TaskRun(int number, const SessionTask& task, SessionContext& context);

  double share() const;  ///< weight × FLOPs
  int64_t capacity() const { return 1 + points_; }
  int64_t trials() const { return trials_; }

  /// Goes on until `budget` trials, history included, the end of the space, early stopping, `time_s` seconds (the default schedule is measured in any case) or
  /// a stop. Errors: what the sink returns; infrastructure after too many failures of our machinery in a row.
  Expected<void> run(int64_t budget, double time_s);
  TaskDone done() const;

 private:
  /// The search of one template's space.
  struct Search {
    const space::Template* space_template;
    space::ConfigSpace space;
    std::unique_ptr<Strategy> strategy = {};
    bool begun = false;                     ///< its rule's point was proposed
    std::unordered_set<int64_t> seen = {};  ///< indices of the history
    std::vector<Observation> known = {};    ///< what the strategy was told
    int64_t trials = 0;
    double best_s;
  };

  /// The search that a record comes from, or null.
  Search* search_of(const records::Record& record);
  bool behind(const Search& search) const;
  void propose(Search& search, size_t count, std::vector<PointCandidate>& batch);
  void learn(std::span<const records::Record> records);
  std::vector<PointCandidate> next_batch(int64_t limit);
  /// Measures, stores, tells. Results that a stop cut off are dropped.
  Expected<void> try_batch(const std::vector<PointCandidate>& batch);
  void account(const records::Record& record);
  records::MeasureResult comparable(records::MeasureResult result) const;  ///< on the scale of the epoch in which the task began
  bool early_stop() const;
  /// Looks whether the machine still is as fast as it was. If not, the leaders are measured again, so that later times can be compared with earlier ones.
  Expected<void> look_for_drift(int64_t trials);
  Expected<void> begin_epoch();
  /// Among the fastest trials of this session, if there is a doubt.
  Expected<void> finals();

  int number_;
  const SessionTask& task_;
  SessionContext& context_;
  int64_t points_ = 0;           ///< of all searches
  std::deque<Search> searches_;  ///< strategies refer to their spaces, so none moves
  bool default_done_ = false;
  int64_t trials_ = 0, trials_of_best_ = 0;
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
