// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <map>
#include <span>

#include "engine/lower/domain.h"
#include "engine/schedule/loops.h"
#include "engine/tir/stmt.h"

namespace tw::lower {

tir::ForKind for_kind(schedule::Annotation a);

/// How often a stage's loop runs, given the stage and the loop's place in it.
using LoopExtentOf = std::function<int64_t(int stage, size_t loop)>;
/// Whether loops are bound to coordinates where they may be; `stages` have their scopes.
/// Errors: illegal_schedule where blocks or threads would write arrays that others keep for themselves, or combine elements one by one.
Expected<void> check_coordinates(std::span<const schedule::Stage> stages, const LoopExtentOf& extent);

/// How bound loops become launches. All loops of one nest that are bound to a coordinate become one loop over the largest of their extents, around
/// everything: loops bound to blocks outermost, then shared arrays, then loops bound to threads, then what one thread does. Where a stage covers less than a
/// coordinate, its stores are guarded.
class LaunchPlan {
 public:
  /// `domains` must have been run.
  LaunchPlan(const std::vector<schedule::Stage>& stages, const DomainInference& domains);

  /// Errors: as of check_coordinates.
  Expected<void> check() const;
  bool any() const { return !launches_.empty(); }
  /// Whether a stage is computed in a launch.
  bool has(int stage) const { return launches_.contains(root(stage)); }
  /// How many there are of a coordinate in the launch that a stage is computed in.
  int64_t threads(int stage, tir::ForKind coordinate) const;
  /// Whether a loop is a coordinate of its launch instead of a loop inside.
  bool is_coordinate(int stage, size_t loop) const;
  /// The coordinates that a stage's reduction is spread over.
  std::vector<tir::ForKind> reducing(int stage) const;
  /// What must hold for a thread to store to an array of the stage in `scope`; `reduced`: after its threads have combined what they computed.
  std::vector<ir::Expr> conditions(int stage, ir::Scope scope, bool reduced) const;
  /// The loops of the launch and its shared arrays around what a thread does.
  tir::Stmt wrap(int root_stage, tir::Stmt body, const std::vector<std::pair<int, ir::Buffer>>& shared) const;

 private:
  struct Coordinate {
    ir::Var var;
    int64_t extent;
    tir::Origin origin;
  };
  using Launch = std::map<tir::ForKind, Coordinate>;

  int root(int stage) const;
  int64_t extent(const schedule::LoopRef& l) const;
  const schedule::Iter& iter(const schedule::LoopRef& l) const { return stages_[static_cast<size_t>(l.stage)].iters[l.loop]; }

  const std::vector<schedule::Stage>& stages_;
  const DomainInference& domains_;
  std::map<int, Launch> launches_;  ///< by root stage
};

}  // namespace tw::lower
