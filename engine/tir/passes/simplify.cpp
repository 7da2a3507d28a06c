// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/simplify.h"

#include "engine/arith/analyzer.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

class Simplifier {
 public:
  Stmt stmt(const Stmt& s) {
    const auto fe = [&](const Expr& e) { return analyzer_.simplify(e); };
    if (const auto* n = as<ForNode>(s)) return loop(s, *n);
    if (const auto* n = as<IfNode>(s)) return branch(s, *n);
    if (const auto* n = as<LetNode>(s)) {
      const Expr v = fe(n->value);
      if (v->dtype == ir::kIndex) analyzer_.bind(n->var.get(), analyzer_.bounds(v));
      const Stmt body = stmt(n->body);
      return v.same_as(n->value) && body.same_as(n->body) ? s : let(n->var, v, body, n->origin);
    }
    return map_children(
        s, [&](const Stmt& c) { return stmt(c); }, fe);
  }

 private:
  Stmt loop(const Stmt& s, const ForNode& n) {
    const Expr mn = analyzer_.simplify(n.min), extent = analyzer_.simplify(n.extent);
    if (ir::is_int(extent, 1)) return stmt(substitute(n.body, {{n.var.get(), mn}}));
    if (const auto e = ir::as_int(extent); e && *e <= 0) return nop();
    const arith::Bounds first = analyzer_.bounds(mn), last = analyzer_.bounds(mn + extent - ir::index(1));
    analyzer_.bind(n.var.get(), {first.lo, last.hi});
    const Stmt body = stmt(n.body);
    return mn.same_as(n.min) && extent.same_as(n.extent) && body.same_as(n.body) ? s : make_for(n.var, mn, extent, n.for_kind, body, n.origin);
  }

  Stmt branch(const Stmt& s, const IfNode& n) {
    const Expr c = conjunction(n.cond);
    if (const auto v = analyzer_.decided(c)) return *v ? stmt(n.then_body) : n.else_body ? stmt(*n.else_body) : nop();
    const bool mask = !c->dtype.is_scalar();  // holds in some lanes only
    const size_t mark = mask ? 0 : analyzer_.push_fact(c);
    const Stmt t = stmt(n.then_body);
    if (!mask) analyzer_.pop_facts(mark);
    std::optional<Stmt> e;
    if (n.else_body) e = stmt(*n.else_body);
    if (c.same_as(n.cond) && t.same_as(n.then_body) && (!e || e->same_as(*n.else_body))) return s;
    return if_then(c, t, e, n.origin);
  }

  /// Each part is simplified under the parts before it.
  Expr conjunction(const Expr& c) {
    const auto* b = ir::as<ir::BinaryNode>(c);
    if (!b || b->op != ir::BinaryOp::and_) return analyzer_.simplify(c);
    const Expr left = conjunction(b->a);
    const size_t mark = left->dtype.is_scalar() ? analyzer_.push_fact(left) : 0;
    const Expr right = conjunction(b->b);
    if (left->dtype.is_scalar()) analyzer_.pop_facts(mark);
    return left.same_as(b->a) && right.same_as(b->b) ? c : (left && right);
  }

  arith::Analyzer analyzer_;
};

}  // namespace

Func simplify(const Func& f, const Target&) {
  Func out = f;
  out.body = Simplifier().stmt(f.body);
  return out;
}

}  // namespace tw::tir
