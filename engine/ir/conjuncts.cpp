// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/conjuncts.h"

namespace tw::ir {

void visit_conjuncts(const Expr& cond, const std::function<void(const Expr&)>& f) {
  const auto* b = as<BinaryNode>(cond);
  const auto* choice = as<SelectNode>(cond);
  if (b && b->op == BinaryOp::and_) {
    visit_conjuncts(b->a, f);
    visit_conjuncts(b->b, f);
  } else if (choice && is_int(choice->if_false, 0)) {
    visit_conjuncts(choice->cond, f);
    visit_conjuncts(choice->if_true, f);
  } else {
    f(cond);
  }
}

}  // namespace tw::ir
