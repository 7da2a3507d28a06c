// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>

#include "engine/ir/expr.h"

namespace tw::ir {

/// Gives every variable and buffer a unique name in one text: its hint, with a number appended where taken.
class Names {
 public:
  const std::string& of(const VarNode* v) { return get(v, v->name); }
  const std::string& of(const BufferNode* b) { return get(b, b->name); }
  /// Keeps `name` from being handed out.
  void reserve(const std::string& name) { ++taken_[name]; }

 private:
  const std::string& get(const void* id, const std::string& hint);
  std::unordered_map<const void*, std::string> names_;
  std::unordered_map<std::string, int> taken_;
};

/// Text that parse.h reads back: `A[i, k] * B[k, j]`, `T.ramp(x, 1, 16)`, `select(c, a, b)`, `float32(0.5)`. Minimal parentheses.
/// Index-type integers print bare, other constants carry their type.
std::string print(const Expr& e, Names& names);
std::string print(const Expr& e);

}  // namespace tw::ir
