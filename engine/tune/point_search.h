// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "engine/base/json.h"
#include "engine/base/rng.h"
#include "engine/base/stop_token.h"
#include "engine/records/record.h"
#include "engine/space/template.h"

namespace tw {
class WorkerPool;
namespace cost {
class CostModel;
struct SharedModel;
}
}  // namespace tw

namespace tw::tune {

/// What a search gets told about a point.
struct Observation {
  int64_t index = -1;
  records::MeasureResult result;
};

/// What was measured in the same template's space of another task.
struct PriorPoints {
  records::Task task;
  const space::Template* space_template = nullptr;
  space::ConfigSpace space;
  std::vector<Observation> results;
};

/// Ask/tell search over the numbered points of one config space. Deterministic: the same seed and the same answers give the same questions.
class PointSearch {
 public:
  virtual ~PointSearch() = default;
  /// Up to n new points; fewer or none when the space is exhausted. Never repeats a point it proposed or observed, and skips those that a filter rejects.
  virtual std::vector<int64_t> propose(int n) = 0;
  /// Results of proposed points, or of points of an earlier run; only those that tell something of the candidate.
  virtual void observe(std::span<const Observation> results) = 0;
  /// What its cost model says of each point as things stand. Nothing where it has none or the point cannot be lowered; asking changes no proposal.
  virtual std::vector<std::optional<records::Prediction>> predictions(std::span<const int64_t> points) {
    return std::vector<std::optional<records::Prediction>>(points.size());
  }
  /// Told before the first proposal if a session wants it. Those that learn only from the task itself do nothing with it.
  virtual void transfer(std::span<const PriorPoints> prior) { static_cast<void>(prior); }
};

/// What is searched. What it refers to outlives the search.
struct PointSearchInput {
  const space::ConfigSpace& space;
  Json params;  ///< resolved
  Rng rng;
  /// The task and its template, for searches that look at the loops of a point; null where there are only points.
  const records::Task* task = nullptr;
  const space::Template* space_template = nullptr;
  StopToken stop = {};
  WorkerPool* workers = nullptr;              ///< what looks at many points; null: the caller's thread alone
  cost::SharedModel* shared_model = nullptr;  ///< what searches with a model ask and teach instead of one of their own
};

}  // namespace tw::tune
