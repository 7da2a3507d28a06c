// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/lower/plan.h"

namespace tw::lower {

/// Where the elements of an array lie. Without gaps and slots: row-major in `shape`. With gaps an array is addressed by `strides` in one dimension.
struct Placement {
  std::vector<schedule::LayoutStep::Piece> layout;  ///< empty means row-major
  std::vector<int64_t> shape;                       ///< of the buffer
  std::vector<int64_t> strides = {};                ///< per physical dimension where there are gaps
  std::optional<ir::Expr> slot = {};                ///< which of the arrays in turn, for a stage that is computed ahead
  /// The dimensions of rows and columns of a tile that the threads of a warp hold together, in their parts [rows / 8, columns / 8, 2].
  std::optional<std::pair<size_t, size_t>> warp_tile = {};

  /// Indices of the array at logical ones.
  std::vector<ir::Expr> indices(const std::vector<ir::Expr>& logical) const;
};

/// Elements, gaps included, of the array that holds a region of these extents of a stage. Nothing: more than an array may have.
std::optional<int64_t> array_elements(const schedule::Stage& st, const std::vector<int64_t>& region);

inline bool is_16_bit_float(DType t) { return t.is_float() && t.bits == 16; }
/// What a thread on a GPU adds up in: 16-bit floats in float32.
DType sum_type(const schedule::Stage& st);

/// The arrays that stages are kept in, each with its place, type and scope.
class Arrays {
 public:
  /// Errors: resource_limit for more elements than an array may have; illegal_schedule where a warp's tile or a pipeline cannot be placed.
  static Expected<Arrays> place(const Plan& plan);

  const ir::Buffer& of(int stage) const { return buffers_.at(plan_->stage(stage).op.output.get()); }
  /// The stage whose array stands for a buffer of the definitions.
  int stage_of(const ir::BufferNode* logical) const { return stage_of_.at(logical); }
  const Placement& placement(int stage) const { return placements_[static_cast<size_t>(stage)]; }
  /// Logical indices of a stage's array to indices of the array that holds it.
  std::pair<ir::Buffer, std::vector<ir::Expr>> access(const ir::BufferNode* logical, std::vector<ir::Expr> indices) const;
  /// Arrays of a stage that is computed ahead of the loop that it is computed in; 1 for others, and where that loop runs once.
  int64_t slots(int stage) const;
  /// Whether some array's elements are wider than its stage's.
  bool widened() const { return widened_; }

 private:
  explicit Arrays(const Plan& plan) : plan_(&plan) {}
  /// Which of its arrays a stage that is computed ahead uses in an iteration of the loop that it is computed in.
  std::optional<ir::Expr> slot_of(int stage) const;

  const Plan* plan_;
  std::vector<Placement> placements_;  ///< per stage
  std::unordered_map<const ir::BufferNode*, ir::Buffer> buffers_;
  std::unordered_map<const ir::BufferNode*, int> stage_of_;
  bool widened_ = false;
};

}  // namespace tw::lower
