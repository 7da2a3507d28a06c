// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "engine/base/json.h"
#include "engine/base/param_schema.h"
#include "engine/base/rng.h"
#include "engine/base/stop_token.h"
#include "engine/records/record.h"
#include "engine/space/template.h"

namespace tw {
class WorkerPool;
namespace cost {
struct SharedModel;
}
}  // namespace tw

namespace tw::tune {

/// What a strategy gets told about a point it proposed.
struct Observation {
  int64_t index = -1;
  records::MeasureResult result;
};

/// What was measured of another task of the same template.
struct PriorTask {
  records::Task task;
  const space::Template* space_template = nullptr;
  space::ConfigSpace space;
  std::vector<Observation> results;
};

/// Ask/tell search over one config space. Deterministic: the same seed and the same answers give the same questions.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Up to n new points; fewer or none when the space is exhausted. Never repeats a point it proposed or observed, and skips those that a filter rejects.
  virtual std::vector<int64_t> propose(int n) = 0;
  /// Results of proposed points, or of points of an earlier run; only those that tell something of the candidate.
  virtual void observe(std::span<const Observation> results) = 0;
  /// What its cost model says of each point as things stand. Nothing where it has none or the point cannot be lowered; asking changes no proposal.
  virtual std::vector<std::optional<records::Prediction>> predictions(std::span<const int64_t> points) {
    return std::vector<std::optional<records::Prediction>>(points.size());
  }
  /// Told before the first proposal if a session wants it. Those that learn only from the task itself do nothing with it.
  virtual void transfer(std::span<const PriorTask* const> prior) { static_cast<void>(prior); }
};

/// What a strategy searches. What it refers to outlives the strategy.
struct StrategyInput {
  const space::ConfigSpace& space;
  Json params;  ///< resolved
  Rng rng;
  /// The task and its template, for strategies that look at the loops of a point; null where there are only points.
  const records::Task* task = nullptr;
  const space::Template* space_template = nullptr;
  StopToken stop = {};
  WorkerPool* workers = nullptr;              ///< what looks at many points; null: the caller's thread alone
  cost::SharedModel* shared_model = nullptr;  ///< what strategies with a model ask and teach instead of one of their own
};

/// One row of the table.
struct StrategyDef {
  const char* name;  ///< as on the command line
  ParamSchema params;
  std::unique_ptr<Strategy> (*make)(const StrategyInput& input);
  const char* summary;  ///< one paragraph
  const char* source;   ///< paper
};
const std::vector<StrategyDef>& strategies();
const StrategyDef* find_strategy(std::string_view name);

}  // namespace tw::tune
