// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tir/stmt.h"

namespace tw::codegen {

/// Statements that an unrolled loop may become.
inline constexpr int64_t kMaxUnrolled = 2048;

/// Because it is marked, or so that a local array's indices become constants and the array registers.
bool asks_to_unroll(const tir::ForNode& n);

/// Statements that are left when every loop is unrolled that asks for it; more than kMaxUnrolled where they are more.
int64_t unrolled_size(const tir::Stmt& s);

}  // namespace tw::codegen
