// SPDX-License-Identifier: Apache-2.0
#include "engine/te/landings.h"

#include <algorithm>
#include <functional>

#include "engine/ir/visit.h"

namespace tw::te {

namespace {

/// Calls f on every part of what must hold, a choice between a second condition and none being two.
void visit_parts(const ir::Expr& cond, const std::function<void(const ir::Expr&)>& f) {
  const auto* both = ir::as<ir::BinaryNode>(cond);
  const auto* choice = ir::as<ir::SelectNode>(cond);
  if (both && both->op == ir::BinaryOp::and_) {
    visit_parts(both->a, f);
    visit_parts(both->b, f);
  } else if (choice && ir::is_int(choice->if_false, 0)) {
    visit_parts(choice->cond, f);
    visit_parts(choice->if_true, f);
  } else {
    f(cond);
  }
}

}  // namespace

std::optional<Landings> landings_of(const Op& op) {
  const auto* choice = op.body && op.reducer != Reducer::none && !op.axes.empty() ? ir::as<ir::SelectNode>(*op.body) : nullptr;
  if (!choice) return std::nullopt;
  Landings found{};
  visit_parts(choice->cond, [&](const ir::Expr& part) {
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
