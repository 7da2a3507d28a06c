// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/base/floor_div.h"
#include "engine/ir/expr.h"

namespace tw::arith {

/// constant + sum of coefficient * atom, over int64. Atoms are index expressions that are no sum or constant multiple themselves.
struct Linear {
  struct Term {
    ir::Expr atom;
    int64_t coeff;
  };
  int64_t constant = 0;
  std::vector<Term> terms;  ///< no two atoms equal, no coefficient 0, in order of first appearance

  bool is_constant() const { return terms.empty(); }
  void add_term(const ir::Expr& atom, int64_t coeff);
  void add(const Linear& other, int64_t factor = 1);
  void scale(int64_t factor);
  ir::Expr to_expr() const;
};

/// True for the same variable, or structurally equal expressions.
bool same_atom(const ir::Expr& a, const ir::Expr& b);

}  // namespace tw::arith
