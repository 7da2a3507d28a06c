// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>

#include "engine/ir/expr.h"

namespace tw::ir {

/// Gives every variable and buffer a unique name in one text: its hint as an identifier, with a number appended where taken.
class Names {
 public:
  const std::string& of(const VarNode* v) { return get(v, v->name); }
  const std::string& of(const BufferNode* b) { return get(b, b->name); }
  /// Keeps `name` from being handed out.
  void reserve(const std::string& name) { taken_.try_emplace(name, 0); }
  /// Names a variable or buffer before the text does; the name must be free and an identifier.
  void assign(const VarNode* v, const std::string& name) { set(v, name); }
  void assign(const BufferNode* b, const std::string& name) { set(b, name); }

 private:
  const std::string& get(const void* id, const std::string& hint);
  void set(const void* id, const std::string& name) {
    names_[id] = name;
    reserve(name);
  }
  std::unordered_map<const void*, std::string> names_;
  std::unordered_map<std::string, int> taken_;
};

/// Text that parse.h reads back: `A[i, k] * B[k, j]`, `T.ramp(x, 1, 16)`, `select(c, a, b)`, `T.float32(0.5)`, `T.cast(int32, x)`. Minimal parentheses.
/// Index-type integers print bare, other constants carry their type.
std::string print(const Expr& e, Names& names);
std::string print(const Expr& e);

}  // namespace tw::ir
