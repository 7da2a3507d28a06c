// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/warp_mma.h"

namespace tw::codegen {

using ir::Expr;

int64_t mma_width(const tir::MmaOperand& o) { return tir::kMmaLine / o.first->dtype.bytes(); }
bool is_fetched(const tir::MmaOperand& o) { return !o.by_depth || o.first->dtype.bytes() == 2; }
bool is_transposed(const tir::MmaOperand& o) { return o.by_depth; }

Expr fetched_by(const tir::MmaOperand& o, MmaSide side, const Expr& lane, const Expr& tile, const Expr& step) {
  // Lanes 0 to 7 name the lines of the first tile, lanes 8 to 15 those of the second, and so on. Registers of a go down the rows first, those of b along the
  // terms.
  const int64_t width = mma_width(o);
  const Expr within = ir::floor_mod(lane, ir::index(8)), low = ir::floor_mod(ir::floor_div(lane, ir::index(8)), ir::index(2)),
             high = ir::floor_div(lane, ir::index(16));
  const Expr line_tile = (side == MmaSide::a ? low : high) * 8, term_tile = (side == MmaSide::a ? high : low) * width;
  if (o.by_depth) return (step * (2 * width) + term_tile + within) * o.stride + (tile * 16 + line_tile);
  return (tile * 16 + line_tile + within) * o.stride + (step * (2 * width) + term_tile);
}

Expr held_by(const tir::MmaOperand& o, MmaSide side, const Expr& lane, const Expr& tile, const Expr& step, int part, int k) {
  const int64_t width = mma_width(o);
  const int low = part % 2, high = part / 2;
  const Expr line = tile * 16 + ir::floor_div(lane, ir::index(4)) + int64_t{8} * (side == MmaSide::a ? low : high);
  const Expr term = step * (2 * width) + ir::floor_mod(lane, ir::index(4)) * (width / 4) + (width * (side == MmaSide::a ? high : low) + k);
  return o.by_depth ? term * o.stride + line : line * o.stride + term;
}

Expr sums_of(int columns, const Expr& tall, const Expr& wide, int half) {
  const int row = columns / 4;  // sums of a lane in 8 rows
  return tall * (2 * row) + wide * 2 + half * row;
}

}  // namespace tw::codegen
