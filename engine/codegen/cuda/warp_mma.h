// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tir/stmt.h"

namespace tw::codegen {

/// Which operand of a product by a warp: a has a line a row of the sums, b one a column.
enum class MmaSide : uint8_t { a, b };

/// Whether ldmatrix must transpose the tiles that it fetches.
bool is_transposed(const tir::MmaOperand& o);
/// Where lane `lane` points ldmatrix.x4 to, in elements of 16 bits after the operand's first, for 16 lines from `16 * tile` on and 16 terms from `16 * step`
/// on. The four registers that it gives each lane are, of a: the operand of mma.sync.m16n8k16 in order; of b: both registers of the first 8 columns, then of
/// the other 8. Source: PTX ISA, the fragments of mma.m16n8k16 for .f16 and .bf16 and the layout of ldmatrix.
ir::Expr fetched_by(const tir::MmaOperand& o, MmaSide side, const ir::Expr& lane, const ir::Expr& tile, const ir::Expr& step);

/// Where a lane's two sums of mma.sync.m16n8 lie in its local array of a tile with `columns` columns, in elements, for the upper 8 rows (`half` 0) or the lower
/// (1) of 16 from row `16 * tall` on, and 8 columns from column `8 * wide` on.
ir::Expr sums_of(int columns, const ir::Expr& tall, const ir::Expr& wide, int half);

}  // namespace tw::codegen
