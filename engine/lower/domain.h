// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "engine/arith/span.h"
#include "engine/ir/visit.h"
#include "engine/schedule/loops.h"

namespace tw::lower {

/// What lowering knows of one stage: the region it computes each time, and its axes in terms of its loops.
struct StageDomain {
  std::vector<ir::Expr> min;                                    ///< per spatial axis, over the loops outside
  std::vector<int64_t> extent;                                  ///< per spatial axis
  schedule::Extents loop_extent;  ///< of every loop, shrunk to the region
  ir::VarMap axis_value;                                        ///< axis variable -> its value over loop variables
  std::vector<ir::Expr> guards;                                 ///< conditions under which an iteration is real; those that always hold are dropped
};

/// Region inference for all stages, consumers first. `stages` have no inlined reads left.
/// A stage computed inside a loop needs the union of what its readers touch while the loops outside stand still; one in shared memory, what they touch in all
/// threads of a block, and one in registers, what they touch in the same thread.
/// Source: bounds inference of Halide (Ragan-Kelley et al., PLDI 2013) with affine index arithmetic.
class DomainInference {
 public:
  explicit DomainInference(const std::vector<schedule::Stage>& stages) : stages_(stages), domains_(stages.size()) {}

  void run();
  const StageDomain& of(int stage) const { return domains_[static_cast<size_t>(stage)]; }
  const arith::Analyzer& analyzer() const { return analyzer_; }

 private:
  /// A loop bound to a coordinate of threads.
  struct ThreadLoop {
    ir::Var var;
    int64_t extent;
  };

  arith::FixedVars fixed_vars(int stage) const;
  /// Of those around a stage, by coordinate.
  std::map<schedule::Annotation, ThreadLoop> thread_loops(int stage) const;
  void infer_region(int stage);
  void resolve_loops(int stage);
  void add_guards(int stage, const std::vector<std::pair<ir::Expr, int64_t>>& surplus);

  const std::vector<schedule::Stage>& stages_;
  std::vector<StageDomain> domains_;
  arith::Analyzer analyzer_;
};

}  // namespace tw::lower
