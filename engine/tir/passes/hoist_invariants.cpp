// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/hoist_invariants.h"

#include "engine/arith/linear.h"
#include "engine/tir/clone.h"
#include "engine/tir/passes/merge_branches.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

/// Whether the loop finds the condition the same in each of its turns: it may read arrays that the loop does not write, if there is a turn at all.
bool is_invariant(const Expr& c, const ForNode& loop) {
  if (ir::uses_var(c, loop.var.get())) return false;
  if (!reads_memory(c)) return true;
  const auto extent = ir::as_int(loop.extent);
  bool same = extent && *extent > 0;
  walk(loop.body, [&](const Stmt& s) {
    if (const auto* n = as<StoreNode>(s)) same = same && !reads(c, n->buffer.get());
  });
  return same;
}

/// Sorts the parts of a conjunction into those that may move out of the loop, and the rest. What reads memory stays behind a part that stays: that may be the guard
/// of the place.
void split_condition(const Expr& c, const ForNode& loop, std::optional<Expr>& invariant, std::optional<Expr>& rest) {
  const auto* b = ir::as<ir::BinaryNode>(c);
  if (b && b->op == ir::BinaryOp::and_) {
    split_condition(b->a, loop, invariant, rest);
    split_condition(b->b, loop, invariant, rest);
    return;
  }
  auto& side = is_invariant(c, loop) && !(rest && reads_memory(c)) ? invariant : rest;
  side = side ? *side && c : c;
}

/// Statements that one loop may become by being copied.
constexpr int kMaxCopied = 256;

/// The last branch that stands directly in the body of a loop on a condition that the loop cannot change: later rows of a tile have stronger guards, which
/// imply those of the rows before.
const IfNode* last_invariant(const SeqNode& body, const ForNode& loop) {
  for (size_t k = body.stmts.size(); k-- > 0;)
    if (const auto* n = as<IfNode>(body.stmts[k]); n && n->cond->dtype.is_scalar() && is_invariant(n->cond, loop)) return n;
  return nullptr;
}

/// The body where the condition of its direct branches is known.
Stmt decided(const SeqNode& body, const Expr& cond, bool holds) {
  std::vector<Stmt> out;
  for (const Stmt& s : body.stmts) {
    const auto* n = as<IfNode>(s);
    if (!n || !arith::same_atom(n->cond, cond))
      out.push_back(s);
    else if (holds)
      out.push_back(n->then_body);
    else if (n->else_body)
      out.push_back(*n->else_body);
  }
  return join_branches(seq(std::move(out)));  // what stood between two branches may be gone
}

Stmt out_of_loop(const Stmt& s, int budget);

/// if c { LOOP(then_body) } else { LOOP(else_body) }, the second with a variable of its own.
Stmt two_loops(const ForNode& loop, const Origin& origin, const Expr& cond, const Stmt& then_body, const std::optional<Stmt>& else_body, int budget) {
  const Stmt first = make_for(loop.var, loop.min, loop.extent, loop.for_kind, then_body, loop.origin);
  std::optional<Stmt> second;
  if (else_body && !is_nop(*else_body)) {
    const Var v = ir::make_var(loop.var->name);
    second = out_of_loop(make_for(v, loop.min, loop.extent, loop.for_kind, clone_with(*else_body, {{loop.var.get(), ir::to_expr(v)}}), loop.origin), budget);
  }
  return if_then(cond, out_of_loop(first, budget), second, origin);
}

Stmt out_of_loop(const Stmt& s, int budget) {
  const auto* loop = as<ForNode>(s);
  // A parallel region stays the outermost statement: its work is split before conditions are looked at.
  if (!loop || is_concurrent(loop->for_kind)) return s;
  if (has_barriers(loop->body)) return s;  // all threads go through one loop, whatever each finds
  if (const auto* branch = as<IfNode>(loop->body)) {
    std::optional<Expr> invariant, rest;
    split_condition(branch->cond, *loop, invariant, rest);
    if (!invariant || (rest && branch->else_body)) return s;
    return two_loops(*loop, branch->origin, *invariant, rest ? if_then(*rest, branch->then_body, std::nullopt, branch->origin) : branch->then_body,
                     branch->else_body, budget);
  }
  // Of vectors, so that the turns of either loop may be one copy; in scalar loops a choice costs what a branch does.
  if (const auto* to = as<StoreNode>(loop->body); to && to->value->dtype.lanes > 1) {
    const auto* choice = ir::as<ir::SelectNode>(to->value);
    if (!choice || !choice->cond->dtype.is_scalar() || !is_invariant(choice->cond, *loop)) return s;
    const auto storing = [&](const Expr& value) { return store(to->buffer, to->indices, value, to->origin); };
    return two_loops(*loop, to->origin, choice->cond, storing(choice->if_true), storing(choice->if_false), budget);
  }
  const auto* body = as<SeqNode>(loop->body);
  const IfNode* branch = body ? last_invariant(*body, *loop) : nullptr;
  if (!branch || 2 * count_statements(loop->body) > budget) return s;
  return two_loops(*loop, branch->origin, branch->cond, decided(*body, branch->cond, true), decided(*body, branch->cond, false), budget / 2);
}

Stmt hoist(const Stmt& s) {
  return out_of_loop(map_children(s, hoist, [](const Expr& e) { return e; }), kMaxCopied);
}

}  // namespace

Func hoist_invariants(const Func& f, const Target&) {
  Func out = f;
  out.body = hoist(f.body);
  return out;
}

}  // namespace tw::tir
