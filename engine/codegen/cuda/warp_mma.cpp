// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/warp_mma.h"

namespace tw::codegen {

using ir::Expr;

bool is_transposed(const tir::MmaOperand& o) { return o.by_depth; }

Expr fetched_by(const tir::MmaOperand& o, MmaSide side, const Expr& lane, const Expr& tile, const Expr& step) {
  // Lanes 0 to 7 name the lines of the first tile of 8 by 8, lanes 8 to 15 those of the second, and so on. Registers of a go down the rows first, those of b
  // along the terms.
  const Expr within = ir::floor_mod(lane, ir::index(8)), low = ir::floor_mod(ir::floor_div(lane, ir::index(8)), ir::index(2)) * 8,
             high = ir::floor_div(lane, ir::index(16)) * 8;
  const Expr line_tile = side == MmaSide::a ? low : high, term_tile = side == MmaSide::a ? high : low;
  if (o.by_depth) return (step * 16 + term_tile + within) * o.stride + (tile * 16 + line_tile);
  return (tile * 16 + line_tile + within) * o.stride + (step * 16 + term_tile);
}

Expr sums_of(int columns, const Expr& tall, const Expr& wide, int half) {
  const int row = columns / 4;  // sums of a lane in 8 rows
  return tall * (2 * row) + wide * 2 + half * row;
}

}  // namespace tw::codegen
