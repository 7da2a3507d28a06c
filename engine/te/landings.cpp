// SPDX-License-Identifier: Apache-2.0
#include "engine/te/landings.h"

#include <algorithm>

#include "engine/ir/conjuncts.h"
#include "engine/ir/visit.h"

namespace tw::te {

std::optional<Landings> landings_of(const Op& op) {
  const auto* choice = op.body && op.reducer != Reducer::none && !op.axes.empty() ? ir::as<ir::SelectNode>(*op.body) : nullptr;
  if (!choice) return std::nullopt;
  Landings found{};
  ir::visit_conjuncts(choice->cond, [&](const ir::Expr& part) {
    const auto* eq = ir::as<ir::BinaryNode>(part);
    if (!eq || eq->op != ir::BinaryOp::eq) return;
    for (size_t k = 0; k < op.axes.size(); ++k) {
      const ir::VarNode* var = op.axes[k].var.get();
      const bool named = (eq->a.get() == var && !ir::uses_var(eq->b, var)) || (eq->b.get() == var && !ir::uses_var(eq->a, var));
      if (named && std::find(found.places.begin(), found.places.end(), k) == found.places.end()) found.places.push_back(k);
    }
  });
  if (found.places.empty()) return std::nullopt;
  std::sort(found.places.begin(), found.places.end());
  const size_t last = op.axes.size() - 1;
  found.same_for_last = found.places.back() != last && !ir::uses_var(choice->cond, op.axes[last].var.get());
  return found;
}

}  // namespace tw::te
