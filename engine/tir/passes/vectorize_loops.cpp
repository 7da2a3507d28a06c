// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/vectorize_loops.h"

#include <algorithm>

#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

/// Longest vector that is emitted as one; longer loops keep their scalar form.
constexpr int64_t kMaxLanes = 256;

/// Rewrites one loop body; a condition on the variable becomes a mask. Gives up (nullopt) where lanes cannot go together.
class Vectorizer {
 public:
  Vectorizer(const ForNode& loop, int lanes) : var_(loop.var.get()), min_(loop.min), lanes_(lanes) {}

  std::optional<Stmt> stmt(const Stmt& s) const {
    if (!vectorizable(s)) return std::nullopt;
    bool ok = true;
    const Stmt out = map_children(
        s,
        [&](const Stmt& c) {
          auto r = stmt(c);
          ok = ok && r.has_value();
          return r ? *r : c;
        },
        [&](const Expr& e) { return expr(e); });
    return ok ? std::optional(out) : std::nullopt;
  }

 private:
  bool vectorizable(const Stmt& s) const {
    if (as<AllocNode>(s) || as<LetNode>(s) || as<AsyncNode>(s) || has_barriers(s)) return false;
    if (const auto* n = as<ForNode>(s)) return !is_concurrent(n->for_kind) && !ir::uses_var(n->min, var_) && !ir::uses_var(n->extent, var_);
    if (const auto* n = as<IfNode>(s); n && !n->cond->dtype.is_scalar()) return false;
    // A body in vectors already stays one; a store that does not move with the lane would write one element from every lane.
    if (const auto* n = as<StoreNode>(s))
      return n->value->dtype.is_scalar() && std::any_of(n->indices.begin(), n->indices.end(), [&](const Expr& i) { return ir::uses_var(i, var_); });
    return true;
  }

  Expr expr(const Expr& e) const {
    if (!ir::uses_var(e, var_)) return e;
    if (e->dtype == ir::kIndex)
      if (const auto r = as_ramp(e)) return *r;
    if (const auto* s = ir::as<ir::SelectNode>(e)) return ir::select(expr(s->cond), widen(expr(s->if_true)), widen(expr(s->if_false)));
    if (const auto* c = ir::as<ir::CallNode>(e)) {
      std::vector<Expr> args;
      for (const Expr& a : c->args) args.push_back(widen(expr(a)));
      return ir::call(c->function, std::move(args));
    }
    return ir::map_children(e, [&](const Expr& c) { return expr(c); });
  }
  Expr widen(const Expr& e) const { return e->dtype.lanes == 1 ? ir::broadcast(e, lanes_) : e; }

  /// base + stride * var as a ramp, for sums and constant products.
  std::optional<Expr> as_ramp(const Expr& e) const {
    int64_t stride = 0;
    if (!affine(e, 1, stride)) return std::nullopt;
    const Expr base = ir::substitute(e, {{var_, min_}});
    return stride == 0 ? ir::broadcast(base, lanes_) : ir::ramp(base, ir::index(stride), lanes_);
  }
  bool affine(const Expr& e, int64_t factor, int64_t& stride) const {
    if (!ir::uses_var(e, var_)) return true;
    if (e.get() == var_) {
      stride += factor;
      return true;
    }
    const auto* b = ir::as<ir::BinaryNode>(e);
    if (!b) return false;
    if (b->op == ir::BinaryOp::add) return affine(b->a, factor, stride) && affine(b->b, factor, stride);
    if (b->op == ir::BinaryOp::sub) return affine(b->a, factor, stride) && affine(b->b, -factor, stride);
    if (b->op != ir::BinaryOp::mul) return false;
    if (const auto c = ir::as_int(b->b)) return affine(b->a, factor * *c, stride);
    if (const auto c = ir::as_int(b->a)) return affine(b->b, factor * *c, stride);
    return false;
  }

  const ir::VarNode* var_;
  Expr min_;
  int lanes_;
};

Stmt vectorize(const Stmt& s) {
  const Stmt x = map_children(s, vectorize, [](const Expr& e) { return e; });
  const auto* n = as<ForNode>(x);
  if (!n || n->for_kind != ForKind::vectorized) return x;
  const auto lanes = ir::as_int(n->extent);
  if (lanes && *lanes >= 2 && *lanes <= kMaxLanes)
    if (auto body = Vectorizer(*n, static_cast<int>(*lanes)).stmt(n->body)) return *body;
  return make_for(n->var, n->min, n->extent, ForKind::serial, n->body, n->origin);
}

}  // namespace

Func vectorize_loops(const Func& f, const Target&) {
  Func out = f;
  out.body = vectorize(f.body);
  return out;
}

}  // namespace tw::tir
