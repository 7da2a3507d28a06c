// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/partition_loops.h"

#include <algorithm>
#include <functional>

#include "engine/arith/analyzer.h"
#include "engine/ir/conjuncts.h"
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
    const auto [lo, hi] = guard_free_range(*n, *mn, *mn + *extent);
    if (lo >= hi || (lo == *mn && hi == *mn + *extent)) return rebuild(s, *n);
    const int size = count_statements(n->body);
    if (size * 2 > budget_) return rebuild(s, *n);
    budget_ -= size * 2;
    return is_concurrent(n->for_kind) ? two_versions(*n, lo, hi) : cut(*n, *mn, lo, hi, *mn + *extent);
  }

 private:
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

  Stmt cut(const ForNode& n, int64_t begin, int64_t lo, int64_t hi, int64_t end) {
    std::vector<Stmt> parts;
    if (begin < lo) parts.push_back(piece(n, begin, lo));
    parts.push_back(piece(n, lo, hi));
    if (hi < end) parts.push_back(piece(n, hi, end));
    return seq(std::move(parts));
  }

  Stmt two_versions(const ForNode& n, int64_t lo, int64_t hi) {
    const Expr v = ir::to_expr(n.var);
    const int64_t begin = *ir::as_int(n.min), end = begin + *ir::as_int(n.extent);
    // One turn is left: guards over lanes, which no bounds decide, are constants there.
    const int64_t first = lo == begin ? hi : begin, last = hi == end ? lo - 1 : end - 1;
    analyzer_.bind(n.var.get(), {first, last});
    const Stmt slow = stmt(drop_guards(clone_with(n.body, first == last ? ir::VarMap{{n.var.get(), ir::index(first)}} : ir::VarMap{})));
    analyzer_.bind(n.var.get(), {lo, hi - 1});
    const Stmt fast = stmt(drop_guards(n.body));
    const Expr below = v < ir::index(hi), above = ir::index(lo) <= v;
    const Expr inside = lo == begin ? below : hi == end ? above : above && below;
    return make_for(n.var, n.min, n.extent, n.for_kind, if_then(inside, fast, slow, n.origin), n.origin);
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

  /// The values of the loop variable, within [begin, end), for which every guard that can be decided holds in all inner iterations.
  std::pair<int64_t, int64_t> guard_free_range(const ForNode& loop, int64_t begin, int64_t end) {
    int64_t lo = begin, hi = end;
    visit_guards(loop.body, [&](const Expr& cond) {
      if (!ir::uses_var(cond, loop.var.get())) return;
      auto condition = non_positive(cond, analyzer_);
      if (!condition) return;
      arith::Linear& rest = *condition;
      int64_t coeff = 0;
      for (const auto& t : rest.terms) {
        if (t.atom.get() == loop.var.get())
          coeff = t.coeff;
        else if (ir::uses_var(t.atom, loop.var.get()))
          return;  // under a division: not affine in the loop
      }
      if (coeff == 0) return;
      rest.add_term(ir::to_expr(loop.var), -coeff);
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

  /// Calls f on every conjunct of every condition below s (of branches, and of selects such as padding), with the ranges of the loops around it bound.
  void visit_guards(const Stmt& s, const std::function<void(const Expr&)>& f) {
    walk(s, [&](const Stmt& x) {
      if (const auto* n = as<ForNode>(x)) bind_loop(analyzer_, *n);
      if (const auto* n = as<IfNode>(x)) visit_conjuncts(n->cond, f);
      if (const auto* n = as<StoreNode>(x))
        ir::walk(n->value, [&](const Expr& e) {
          if (const auto* sel = ir::as<ir::SelectNode>(e)) visit_conjuncts(sel->cond, f);
        });
    });
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
