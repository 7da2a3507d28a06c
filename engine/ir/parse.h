// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <unordered_map>

#include "engine/base/expected.h"
#include "engine/ir/expr.h"

namespace tw::ir {

/// The names that an expression text may use.
struct Symbols {
  std::unordered_map<std::string, Var> vars;
  std::unordered_map<std::string, Buffer> buffers;
  std::unordered_map<std::string, int64_t> constants = {};  ///< read as int64 constants
  std::unordered_map<std::string, DType> types = {};        ///< beside the names of types
};

/// Reads one expression in the form that print.h writes; all of `text` must be used.
/// Errors: parse_error with the column; unknown names by name. Type errors in the text are errors, not assertions.
Expected<Expr> parse_expr(std::string_view text, const Symbols& symbols);

}  // namespace tw::ir
