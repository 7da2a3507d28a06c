// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/partition_loops.h"

#include <algorithm>
#include <functional>

#include "engine/arith/analyzer.h"
#include "engine/ir/conjuncts.h"
#include "engine/ir/equal.h"
#include "engine/tir/clone.h"
#include "engine/tir/conditions.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

/// Statements that a function may reach by copying bodies; beyond it loops keep their guards.
constexpr int kMaxStatements = 4000;

class Partitioner {
 public:
  explicit Partitioner(const Stmt& whole) : budget_(kMaxStatements - count_statements(whole)) {}

  Stmt stmt(const Stmt& s) {
    const auto* n = as<ForNode>(s);
    if (!n)
      return map_children(
          s, [&](const Stmt& c) { return stmt(c); }, [](const Expr& e) { return e; });
    const auto mn = ir::as_int(n->min), extent = ir::as_int(n->extent);
    if (!mn || !extent || n->for_kind == ForKind::vectorized || is_unrolled(n->for_kind) || n->for_kind == ForKind::vthread) return rebuild(s, *n);
    const Range all{*mn, *mn + *extent}, inside = guard_free_range(n->body, n->var.get(), all);
    if (!inside.parts(all)) return is_concurrent(n->for_kind) ? by_digits(s, *n) : rebuild(s, *n);
    if (!afford(n->body)) return rebuild(s, *n);
    if (!is_concurrent(n->for_kind)) return cut(*n, all, inside);
    return make_for(n->var, n->min, n->extent, n->for_kind, two_versions(n->body, n->var, ir::to_expr(n->var), all, inside, n->origin), n->origin);
  }

 private:
  /// Values of a variable from begin up to, not including, end.
  struct Range {
    int64_t begin, end;
    bool parts(const Range& all) const { return begin < end && (all.begin < begin || end < all.end); }
  };

  /// Whether two copies of the body fit the limit; counts them if so.
  bool afford(const Stmt& body) {
    const int size = count_statements(body) * 2;
    if (size > budget_) return false;
    budget_ -= size;
    return true;
  }

  Stmt rebuild(const Stmt& s, const ForNode& n) {
    bind_loop(analyzer_, n);
    const Stmt body = stmt(n.body);
    return body.same_as(n.body) ? s : make_for(n.var, n.min, n.extent, n.for_kind, body, n.origin);
  }

  /// The iterations [begin, end) as a loop of their own, partitioned further inside.
  Stmt piece(const ForNode& n, int64_t begin, int64_t end) {
    const Var v = ir::make_var(n.var->name);
    analyzer_.bind(v.get(), {begin, end - 1});
    const Stmt body = drop_guards(clone_with(n.body, {{n.var.get(), ir::to_expr(v)}}));
    return is_nop(body) ? body : make_for(v, ir::index(begin), ir::index(end - begin), n.for_kind, stmt(body), n.origin);
  }

  Stmt cut(const ForNode& n, const Range& all, const Range& inside) {
    std::vector<Stmt> parts;
    if (all.begin < inside.begin) parts.push_back(piece(n, all.begin, inside.begin));
    parts.push_back(piece(n, inside.begin, inside.end));
    if (inside.end < all.end) parts.push_back(piece(n, inside.end, all.end));
    return seq(std::move(parts));
  }

  /// The body for the values of v inside, where its guards hold, and for the others; `value` is what the finished code tests.
  Stmt two_versions(const Stmt& body, const Var& v, const Expr& value, const Range& all, const Range& inside, const Origin& origin) {
    // One turn is left: guards over lanes, which no bounds decide, are constants there.
    const int64_t first = inside.begin == all.begin ? inside.end : all.begin, last = inside.end == all.end ? inside.begin - 1 : all.end - 1;
    analyzer_.bind(v.get(), {first, last});
    const Stmt slow = stmt(drop_guards(clone_with(body, first == last ? ir::VarMap{{v.get(), ir::index(first)}} : ir::VarMap{})));
    analyzer_.bind(v.get(), {inside.begin, inside.end - 1});
    const Stmt fast = stmt(drop_guards(body));
    const Expr below = value < ir::index(inside.end), above = ir::index(inside.begin) <= value;
    return if_then(inside.begin == all.begin ? below : inside.end == all.end ? above : above && below, fast, slow, origin);
  }

  /// Loops that were fused leave what was their variable as a digit of one, such as `i % n`: two versions of the body by the first digit that parts its guards.
  Stmt by_digits(const Stmt& s, const ForNode& n) {
    bind_loop(analyzer_, n);
    std::vector<Expr> digits;
    visit_guards(n.body, [&](const Expr& cond) { collect_digits(cond, n.var, digits); });
    for (const Expr& digit : digits) {
      const arith::Bounds values = analyzer_.bounds(digit);
      const Range all{values.lo, values.hi + 1};
      const Var v = ir::make_var("digit");
      analyzer_.bind(v.get(), values);
      const Stmt body = replace(n.body, digit, ir::to_expr(v));
      const Range inside = guard_free_range(body, v.get(), all);
      if (!inside.parts(all) || !afford(n.body)) continue;
      return make_for(n.var, n.min, n.extent, n.for_kind, substitute(two_versions(body, v, digit, all, inside, n.origin), {{v.get(), digit}}), n.origin);
    }
    return rebuild(s, n);
  }

  /// Adds the quotients and remainders of v by constants that stand in e.
  static void collect_digits(const Expr& e, const Var& v, std::vector<Expr>& digits) {
    const auto* b = ir::as<ir::BinaryNode>(e);
    if (b && (b->op == ir::BinaryOp::floor_mod || b->op == ir::BinaryOp::floor_div) && ir::as_int(b->b)) {
      const auto* inner = ir::as<ir::BinaryNode>(b->a);
      const Expr& of = b->op == ir::BinaryOp::floor_mod && inner && inner->op == ir::BinaryOp::floor_div && ir::as_int(inner->b) ? inner->a : b->a;
      if (of.get() == v.get()) {
        if (std::ranges::none_of(digits, [&](const Expr& d) { return structural_equal(d, e); })) digits.push_back(e);
        return;
      }
    }
    ir::for_each_child(e, [&](const Expr& c) { collect_digits(c, v, digits); });
  }

  static Expr replace(const Expr& e, const Expr& from, const Expr& to) {
    if (structural_equal(e, from)) return to;
    return ir::map_children(e, [&](const Expr& c) { return replace(c, from, to); });
  }
  static Stmt replace(const Stmt& s, const Expr& from, const Expr& to) {
    return map_children(
        s, [&](const Stmt& c) { return replace(c, from, to); }, [&](const Expr& e) { return replace(e, from, to); });
  }

  /// Removes guards that always or never hold under the ranges bound now.
  Stmt drop_guards(const Stmt& s) {
    if (const auto* n = as<ForNode>(s)) bind_loop(analyzer_, *n);
    if (const auto* n = as<IfNode>(s))
      if (const auto known = ir::as_int(analyzer_.simplify(n->cond)))
        return *known ? drop_guards(n->then_body) : n->else_body ? drop_guards(*n->else_body) : nop();
    const Stmt out = map_children(
        s, [&](const Stmt& c) { return drop_guards(c); }, [](const Expr& e) { return e; });
    const auto* loop = as<ForNode>(out);
    return loop && is_nop(loop->body) ? nop() : out;
  }

  /// The values of v, within `all`, for which every guard that can be decided holds in all inner iterations.
  Range guard_free_range(const Stmt& body, const ir::VarNode* v, const Range& all) {
    auto [lo, hi] = all;
    visit_guards(body, [&](const Expr& cond) {
      if (!ir::uses_var(cond, v)) return;
      auto condition = non_positive(cond, analyzer_);
      if (!condition) return;
      arith::Linear& rest = *condition;
      int64_t coeff = 0;
      for (const auto& t : rest.terms) {
        if (t.atom.get() == v)
          coeff = t.coeff;
        else if (ir::uses_var(t.atom, v))
          return;  // under a division: not affine in v
      }
      if (coeff == 0) return;
      std::erase_if(rest.terms, [&](const auto& t) { return t.atom.get() == v; });
      const int64_t worst = analyzer_.bounds(rest).hi;
      if (worst == arith::Bounds::kPosInf) return;
      int64_t new_lo = lo, new_hi = hi;
      if (coeff > 0)
        new_hi = std::min(hi, floor_div_int(-worst, coeff) + 1);
      else
        new_lo = std::max(lo, -floor_div_int(-worst, -coeff));
      if (new_lo >= new_hi) return;  // never certain: this guard stays
      lo = new_lo;
      hi = new_hi;
    });
    return {lo, hi};
  }

  /// Calls f on every conjunct of every condition below s (of branches, of selects such as padding, and of places that lanes turn around or keep between
  /// limits), with the ranges of the loops around it bound.
  void visit_guards(const Stmt& s, const std::function<void(const Expr&)>& f) {
    std::vector<Var> lanes;
    walk(s, [&](const Stmt& x) {
      if (const auto* n = as<ForNode>(x)) {
        bind_loop(analyzer_, *n);
        if (n->for_kind == ForKind::vectorized) lanes.push_back(n->var);
      }
      if (const auto* n = as<IfNode>(x)) visit_conjuncts(n->cond, f);
      if (const auto* n = as<StoreNode>(x))
        ir::walk(n->value, [&](const Expr& e) {
          const auto* sel = ir::as<ir::SelectNode>(e);
          if (sel && sel->dtype != ir::kIndex) visit_conjuncts(sel->cond, f);
          if (sel && sel->dtype == ir::kIndex) visit_turn(sel->cond, lanes, f);
          visit_limit(e, lanes, f);
        });
    });
  }
  static bool in_lanes(const Expr& e, const std::vector<Var>& lanes) {
    return std::ranges::any_of(lanes, [&](const Var& v) { return ir::uses_var(e, v.get()); });
  }
  /// Where a place is turned around, as padding repeats what lies inside: that it is not, where lanes differ in it. Of a scalar the test is cheap.
  static void visit_turn(const Expr& cond, const std::vector<Var>& lanes, const std::function<void(const Expr&)>& f) {
    const auto* n = ir::as<ir::BinaryNode>(cond);
    if (!n || n->a->dtype != ir::kIndex || !in_lanes(cond, lanes)) return;
    if (n->op == ir::BinaryOp::lt) f(n->b <= n->a);
    if (n->op == ir::BinaryOp::le) f(n->b < n->a);
  }
  /// A place that is kept between limits, as padding repeats the edge: that it lies between them.
  static void visit_limit(const Expr& e, const std::vector<Var>& lanes, const std::function<void(const Expr&)>& f) {
    const auto* n = ir::as<ir::BinaryNode>(e);
    if (!n || (n->op != ir::BinaryOp::min && n->op != ir::BinaryOp::max) || n->dtype != ir::kIndex || !ir::as_int(n->b)) return;
    const auto* inner = ir::as<ir::BinaryNode>(n->a);
    const Expr& place = inner && (inner->op == ir::BinaryOp::min || inner->op == ir::BinaryOp::max) && ir::as_int(inner->b) ? inner->a : n->a;
    if (in_lanes(place, lanes)) f(n->op == ir::BinaryOp::min ? place <= n->b : n->b <= place);
  }

  arith::Analyzer analyzer_;
  int budget_;
};

}  // namespace

Func partition_loops(const Func& f, const Target&) {
  Func out = f;
  out.body = Partitioner(f.body).stmt(f.body);
  return out;
}

}  // namespace tw::tir
