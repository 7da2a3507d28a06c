// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/hoist_invariants.h"

#include "engine/tir/clone.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

/// A condition may be evaluated earlier only if no store of the loop can change it.
bool reads_memory(const Expr& e) {
  bool reads = false;
  ir::walk(e, [&](const Expr& x) { reads = reads || ir::as<ir::LoadNode>(x); });
  return reads;
}

/// Sorts the parts of a conjunction into those that may move out of the loop over `var`, and the rest.
void split_condition(const Expr& c, const ir::VarNode* var, std::optional<Expr>& invariant, std::optional<Expr>& rest) {
  const auto* b = ir::as<ir::BinaryNode>(c);
  if (b && b->op == ir::BinaryOp::and_) {
    split_condition(b->a, var, invariant, rest);
    split_condition(b->b, var, invariant, rest);
    return;
  }
  auto& side = ir::uses_var(c, var) || reads_memory(c) ? rest : invariant;
  side = side ? *side && c : c;
}

Stmt hoist(const Stmt& s) {
  const Stmt x = map_children(s, hoist, [](const Expr& e) { return e; });
  const auto* loop = as<ForNode>(x);
  // A parallel region stays the outermost statement: its work is split before conditions are looked at.
  if (!loop || is_concurrent(loop->for_kind)) return x;
  const auto* branch = as<IfNode>(loop->body);
  if (!branch) return x;
  std::optional<Expr> invariant, rest;
  split_condition(branch->cond, loop->var.get(), invariant, rest);
  if (!invariant || (rest && branch->else_body)) return x;
  const auto around = [&](const Stmt& body) { return make_for(loop->var, loop->min, loop->extent, loop->for_kind, body, loop->origin); };
  const Stmt then_body = rest ? if_then(*rest, branch->then_body, std::nullopt, branch->origin) : branch->then_body;
  std::optional<Stmt> else_body;
  if (branch->else_body) {
    const Var v = ir::make_var(loop->var->name);
    else_body = make_for(v, loop->min, loop->extent, loop->for_kind, clone_with(*branch->else_body, {{loop->var.get(), ir::to_expr(v)}}), loop->origin);
  }
  return if_then(*invariant, around(then_body), else_body, branch->origin);
}

}  // namespace

Func hoist_invariants(const Func& f, const Target&) {
  Func out = f;
  out.body = hoist(f.body);
  return out;
}

}  // namespace tw::tir
