// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/stretch.h"

#include <algorithm>

#include "engine/arith/analyzer.h"
#include "engine/ir/visit.h"

namespace tw::tir {

int64_t stretch(const Expr& place, std::span<const ForNode* const> loops, int64_t lanes) {
  const arith::Linear at = arith::Analyzer().linear(place);
  int64_t elements = lanes;
  for (size_t l = loops.size(); l-- > 0;) {
    const ir::VarNode* var = loops[l]->var.get();
    bool moves = false;
    for (const arith::Linear::Term& t : at.terms) {
      if (t.atom.get() == var && t.coeff == elements)
        moves = true;
      else if (ir::uses_var(t.atom, var))
        return 0;
    }
    if (!moves || std::any_of(loops.begin(), loops.end(), [&](const ForNode* other) { return ir::uses_var(other->min, var); })) return 0;
    elements *= *ir::as_int(loops[l]->extent);
  }
  return elements;
}

}  // namespace tw::tir
