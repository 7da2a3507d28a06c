// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "engine/space/templates/cpu/blocked.h"

/// What the templates for tensor cores share: blocks of warps, each of which computes a tile of a product of matrices from tiles in shared memory that threads
/// copy ahead. Operands in float16 or bfloat16, in float32 where the target allows TF32, or in int8 and uint8; sums in float32 or int32.
/// Knobs: those of AutoTVM's tensor-core templates. `offsetCS` changes nothing here, for results go from registers to memory; it keeps AutoTVM's numbering. How
/// many tiles are copied ahead is no knob: as many as fit, up to four.
/// Source: the tensor-core templates of TVM v0.9.0 for the knobs; CUTLASS 2.x (multistage pipelines of cp.async, mma.sync) for what they mean.
namespace tw::space::cuda {

/// Extents of the smallest tile of a warp.
inline constexpr int64_t kWarpTile = 16;

/// What the knobs mean.
struct WarpTiling {
  int64_t tall, wide;     ///< warps of a block
  int64_t rows, columns;  ///< of a warp
  int64_t depth;          ///< terms in shared memory at a time
  int64_t gap, vector;    ///< elements after a row of a tile, and that a thread copies at once
  int64_t block_rows() const { return tall * rows; }
  int64_t block_columns() const { return wide * columns; }
  int64_t threads() const;
  /// Of a thread: sums, operands and the rest.
  int64_t registers() const;
};

/// How the operands of a block lie in shared memory: their elements, and whether lines (rows or columns of the product) are neighbours, not terms.
struct WarpOperands {
  DType type = kFloat16;
  const char* vector = "vec";  ///< the knob of elements that are copied at once
  bool rows_inside = false, columns_inside = false;

  WarpTiling tiling(const ConfigEntity& e) const;
  /// Terms that the innermost loop adds up: 16, or 32 of bytes.
  int64_t step() const;
  /// Bytes of shared memory for the tiles of both operands, once.
  int64_t tile_bytes(const WarpTiling& t) const;
  /// How many of each are filled in turn: as many as leave room for a second block where registers do.
  int arrays(const WarpTiling& t, const Target& target) const;
};

/// The product with this tag on a GPU that has the instructions, and the type of its operands; or nothing.
std::optional<cpu::Anchor> warp_anchor(const te::Dag& dag, const Target& target, std::string_view tag, te::Role weight, DType& type);

/// Knobs up to `wmma_m`.
void define_warp_knobs(ConfigSpace& space, const WarpOperands& operands, bool offset_cs);
/// Points whose blocks no processor of the target's kind takes are invalid.
void add_warp_filters(ConfigSpace& space, const Target& target, const WarpOperands& operands);

/// Cuts loops over rows and columns of the result into blocks, warps and lanes, which hold what mma.sync gives them: pairs of columns of every eighth row. With
/// `pairs` a lane stores both at once. Returns the loop that the sums are computed in.
struct WarpResult {
  std::vector<ir::Var> batch = {};  ///< loops outside, over blocks along z
  ir::Var rows, columns;
  bool rows_along_x = false;  ///< blocks of neighbouring rows follow each other, not those of columns
  bool pairs = true;
};
ir::Var share_among_warps(schedule::Builder& b, int out, const WarpResult& result, const WarpTiling& t);
/// The sums of a warp: loops `outside` and tiles of `terms` become one, which is returned, around products by tensor cores of `lines`, rows and columns.
ir::Var multiply_by_warps(schedule::Builder& b, int sums, const std::vector<ir::Var>& outside, const std::vector<ir::Var>& lines, const ir::Var& terms,
                          const WarpOperands& operands, const WarpTiling& t);
/// A tile in shared memory, with its loops in this order, copied by all threads of a block in loop `step` of the sums.
void copy_by_block(schedule::Builder& b, int tile, const std::vector<ir::Var>& order, int sums, const ir::Var& step, const WarpOperands& operands,
                   const WarpTiling& t, int64_t vector, int arrays);

/// Shapes of a block from large to small that a rule chooses from: warps along rows and columns, tiles of 16 of each.
inline constexpr std::array<std::array<int, 4>, 8> kWarpShapes{
    {{2, 4, 4, 4}, {2, 2, 4, 4}, {2, 2, 4, 2}, {2, 2, 2, 2}, {2, 2, 2, 1}, {2, 2, 1, 1}, {2, 1, 1, 1}, {1, 1, 1, 1}}};
/// The point of such a shape with deep tiles, of which several fit, copied in long vectors; nothing if none is valid.
std::optional<ConfigEntity> point_of_shape(const ConfigSpace& space, const Target& target, const WarpOperands& operands, const std::array<int, 4>& shape);

// Products of two matrices whose extents are multiples of 16 (the terms of bytes: of 32).
std::optional<cpu::Anchor> tensorcore_anchor(const te::Dag& dag, const Target& target, std::string_view tag, te::Role weight);
ConfigSpace tensorcore_space(const te::Dag& dag, const Target& target, const cpu::Anchor& a);
Expected<schedule::Schedule> tensorcore_apply(const te::DagPtr& dag, const Target& target, const cpu::Anchor& a, const ConfigEntity& e);
/// The largest tiles whose blocks keep all multiprocessors busy, else the smallest.
ConfigEntity tensorcore_fallback(const te::Dag& dag, const Target& target, const cpu::Anchor& a);

}  // namespace tw::space::cuda
