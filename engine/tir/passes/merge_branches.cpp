// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/merge_branches.h"

#include "engine/arith/linear.h"
#include "engine/tir/visit.h"

namespace tw::tir {

Stmt join_branches(const Stmt& s) {
  const auto* q = as<SeqNode>(s);
  if (!q) return s;
  std::vector<Stmt> out;
  for (size_t i = 0; i < q->stmts.size();) {
    const auto* first = as<IfNode>(q->stmts[i]);
    size_t end = i + 1;
    if (first && !reads_memory(first->cond))
      for (; end < q->stmts.size(); ++end) {
        const auto* next = as<IfNode>(q->stmts[end]);
        if (!next || !arith::same_atom(first->cond, next->cond)) break;
      }
    if (end == i + 1) {
      out.push_back(q->stmts[i++]);
      continue;
    }
    std::vector<Stmt> then_bodies, else_bodies;
    for (; i < end; ++i) {
      const auto& branch = *as<IfNode>(q->stmts[i]);
      then_bodies.push_back(branch.then_body);
      if (branch.else_body) else_bodies.push_back(*branch.else_body);
    }
    std::optional<Stmt> other;
    if (!else_bodies.empty()) other = join_branches(seq(std::move(else_bodies)));
    out.push_back(if_then(first->cond, join_branches(seq(std::move(then_bodies))), other, first->origin));
  }
  return out.size() == q->stmts.size() ? s : seq(std::move(out));
}

namespace {

Stmt merge_within(const Stmt& s) {
  return join_branches(map_children(s, merge_within, [](const Expr& e) { return e; }));
}

}  // namespace

Func merge_branches(const Func& f, const Target&) {
  Func out = f;
  out.body = merge_within(f.body);
  return out;
}

}  // namespace tw::tir
