// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/conditions.h"

namespace tw::tir {

void bind_loop(arith::Analyzer& facts, const ForNode& n) {
  const arith::Bounds first = facts.bounds(n.min), last = facts.bounds(n.min + n.extent - ir::index(1));
  facts.bind(n.var.get(), {first.lo, last.hi});
}

std::optional<arith::Linear> non_positive(const Expr& cond, const arith::Analyzer& facts) {
  const auto* b = ir::as<ir::BinaryNode>(cond);
  if (!b || (b->op != ir::BinaryOp::lt && b->op != ir::BinaryOp::le) || b->a->dtype != ir::kIndex) return std::nullopt;
  arith::Linear l = facts.linear(b->a);
  l.add(facts.linear(b->b), -1);
  if (b->op == ir::BinaryOp::lt) l.constant += 1;
  return l;
}

}  // namespace tw::tir
