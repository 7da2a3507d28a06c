// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "engine/base/json.h"
#include "engine/base/param_schema.h"
#include "engine/base/stop_token.h"
#include "engine/records/session_store.h"
#include "engine/tune/candidate.h"
#include "engine/tune/point_search.h"

namespace tw::tune {

/// What was measured of another task.
using PriorTask = records::TaskRecords;

/// A space that a strategy searches, for people.
struct SearchedSpace {
  std::string name;
  int64_t size = 0;  ///< candidates, those that rules refuse included; 0: it is not counted
};

/// Ask/tell search for the schedules of one task. Deterministic: the same seed and the same answers give the same questions, however many cores there are.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Up to n new candidates; none when there is nothing left to try. Never repeats one that it proposed or was told of. Those that cannot be had as a schedule come
  /// with the reason; they are trials too.
  virtual std::vector<Proposal> propose(int n) = 0;
  /// What it did for its last proposal, for people: an object; null if it has nothing to say. The same questions give the same.
  virtual Json told() const { return {}; }
  /// Trials of the task as they are measured, and before the first proposal those of an earlier run; the default schedule's too.
  virtual void observe(std::span<const records::Record> records) = 0;
  /// Told before the first proposal if a session wants it. Those that learn only from the task itself do nothing with it.
  virtual void transfer(std::span<const PriorTask> prior) { static_cast<void>(prior); }
  /// Candidates that it may propose in all, an upper bound.
  virtual int64_t capacity() const = 0;
  virtual std::vector<SearchedSpace> spaces() const = 0;
};

/// What a strategy searches for. What it refers to outlives the strategy.
struct StrategyInput {
  const records::Task& task;
  Json params;        ///< resolved
  std::string space;  ///< of strategies that search spaces of templates: the only one, such as AutoTVM's "dense_pack.x86"; empty: those of our own that match
  uint64_t seed = 1;
  /// The points of a space that can be measured at all, ascending; nothing: any. May be empty.
  std::function<std::optional<std::vector<int64_t>>(const std::string& space)> points = {};
  StopToken stop = {};
  WorkerPool* workers = nullptr;              ///< what looks at many points; null: the caller's thread alone
  cost::SharedModel* shared_model = nullptr;  ///< what strategies with a model ask and teach instead of one of their own
};

/// One row of the table: a strategy of its own, or a search over numbered points, of which a task gets one for each of its spaces (space_search.h).
struct StrategyDef {
  const char* name;  ///< as on the command line
  ParamSchema params;
  std::unique_ptr<Strategy> (*make)(const StrategyInput& input);                ///< null for searches over points
  std::unique_ptr<PointSearch> (*make_points)(const PointSearchInput& input);  ///< null for others
  const char* summary;                                                          ///< one paragraph
  const char* source;                                                           ///< paper
  /// A model that all tasks of a session ask and teach, of resolved parameters. Null, or a null model: each task has its own, or none. Errors: why it cannot be had.
  Expected<std::unique_ptr<cost::CostModel>> (*shared_model)(const Json& params, const Target& target) = nullptr;
};
const std::vector<StrategyDef>& strategies();
const StrategyDef* find_strategy(std::string_view name);
std::unique_ptr<Strategy> make_strategy(const StrategyDef& def, const StrategyInput& input);

}  // namespace tw::tune
