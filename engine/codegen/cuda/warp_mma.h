// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tir/stmt.h"

/// Which element of its operands each lane of a warp holds for mma.sync.m16n8, of 32 bytes of terms: m16n8k16 for float16 and bfloat16, m16n8k8 for TF32,
/// m16n8k32 for bytes. Source: PTX ISA, the fragments of these instructions and the layout of ldmatrix.
namespace tw::codegen {

/// Which operand of a product by a warp: a has a line a row of the sums, b one a column.
enum class MmaSide : uint8_t { a, b };

/// Elements of an operand in one register, a half of the terms of eight lines: 16 bytes.
int64_t mma_width(const tir::MmaOperand& o);
/// Whether ldmatrix can fetch it: its tiles are 8 lines of 16 bytes, of which a lane gets four neighbouring bytes. That is what the fragments of all three
/// instructions ask for where terms are neighbours; lines are neighbours only for elements of 16 bits, which ldmatrix can transpose.
bool is_fetched(const tir::MmaOperand& o);
/// Whether ldmatrix must transpose the tiles that it fetches.
bool is_transposed(const tir::MmaOperand& o);
/// Where lane `lane` points ldmatrix.x4 to, in elements after the operand's first, for 16 lines from `16 * tile` on and 32 bytes of terms, the `step`-th. The
/// four registers that it gives each lane are, of a: the operand of mma.sync in order; of b: both registers of the first 8 columns, then of the other 8.
ir::Expr fetched_by(const tir::MmaOperand& o, MmaSide side, const ir::Expr& lane, const ir::Expr& tile, const ir::Expr& step);
/// The same registers, element by element: where element `k` of register `part` of a lane lies.
ir::Expr held_by(const tir::MmaOperand& o, MmaSide side, const ir::Expr& lane, const ir::Expr& tile, const ir::Expr& step, int part, int k);

/// Where a lane's two sums of mma.sync.m16n8 lie in its local array of a tile with `columns` columns, in elements, for the upper 8 rows (`half` 0) or the lower
/// (1) of 16 from row `16 * tall` on, and 8 columns from column `8 * wide` on.
ir::Expr sums_of(int columns, const ir::Expr& tall, const ir::Expr& wide, int half);

}  // namespace tw::codegen
