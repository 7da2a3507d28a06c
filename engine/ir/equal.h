// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>

#include "engine/ir/expr.h"

namespace tw::ir {

/// Which variable or buffer of the left side stands for which of the right side.
struct Correspondence {
  std::unordered_map<const void*, const void*> left_to_right;
};

/// Structural equality up to the names in `map`; free variables and buffers match only themselves unless mapped.
bool structural_equal(const Expr& a, const Expr& b, Correspondence& map);
bool structural_equal(const Expr& a, const Expr& b);

/// Equal for structurally equal expressions; variables and buffers count by identity.
uint64_t structural_hash(const Expr& e);

}  // namespace tw::ir
