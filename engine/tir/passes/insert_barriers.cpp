// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/insert_barriers.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "engine/arith/analyzer.h"
#include "engine/tir/conditions.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

struct Access {
  const ir::BufferNode* array;
  std::vector<Expr> indices;
  bool write;
  Origin origin;
  bool tile = false;  ///< also of what follows the element
};

/// What a statement does to shared arrays, seen from before and after it.
struct Flow {
  std::vector<Access> entry;  ///< before its first barrier
  std::vector<Access> exit;   ///< after its last
  bool fenced = false;        ///< every way through passes a barrier

  void then(const Flow& next) {
    if (!fenced) entry.insert(entry.end(), next.entry.begin(), next.entry.end());
    if (next.fenced) exit.clear();
    exit.insert(exit.end(), next.exit.begin(), next.exit.end());
    fenced = fenced || next.fenced;
  }
};

/// What the threads of one launch do.
class Threads {
 public:
  void add_thread(const ForNode& n) {
    threads_.emplace_back(n.var.get(), *ir::as_int(n.extent));
    dependent_.insert(n.var.get());
    bind_loop(facts_, n);
  }
  void add_block(const ForNode& n) {
    same_.insert(n.var.get());
    bind_loop(facts_, n);
  }

  Stmt run(const Stmt& body) {
    Flow flow;
    return threads_.empty() ? body : rewrite(body, flow);
  }

 private:
  /// Whether threads may find different values.
  bool differs(const Expr& e) const {
    bool found = false;
    ir::walk(e, [&](const Expr& x) {
      const auto* v = ir::as<ir::VarNode>(x);
      const auto* l = ir::as<ir::LoadNode>(x);
      found = found || (v && dependent_.contains(v)) || (l && l->buffer->scope != ir::Scope::param);
    });
    return found;
  }

  static void add_reads(const Expr& e, Origin origin, Flow& flow) {
    ir::walk(e, [&](const Expr& x) {
      const auto* l = ir::as<ir::LoadNode>(x);
      if (!l || l->buffer->scope != ir::Scope::shared) return;
      const Flow read{{{l->buffer.get(), l->indices, false, origin}}, {{l->buffer.get(), l->indices, false, origin}}, false};
      flow.then(read);
    });
  }

  /// Rewrites `s` and appends what it does to `flow`, which must hold nothing but what stands in the same sequence before it.
  Stmt rewrite(const Stmt& s, Flow& flow) {
    return match(
        s, [&](const ForNode& n) { return loop(s, n, flow); },
        [&](const StoreNode& n) {
          Flow mine;
          for (const Expr& i : n.indices) add_reads(i, n.origin, mine);
          add_reads(n.value, n.origin, mine);
          if (n.buffer->scope == ir::Scope::shared) {
            const Access write{n.buffer.get(), n.indices, true, n.origin};
            mine.then({{write}, {write}, false});
          }
          return after_barrier(s, mine, flow);
        },
        [&](const AllocNode& n) {
          const Stmt body = rewrite(n.body, flow);
          return body.same_as(n.body) ? s : alloc(n.buffer, body, n.origin);
        },
        [&](const LetNode& n) {
          Flow value;
          add_reads(n.value, n.origin, value);
          if (differs(n.value)) dependent_.insert(n.var.get());
          const Stmt out = after_barrier(s, value, flow);
          const Stmt body = rewrite(n.body, flow);
          if (body.same_as(n.body) && out.same_as(s)) return s;
          const Stmt bound = let(n.var, n.value, body, n.origin);
          return out.same_as(s) ? bound : seq({make_sync(n.origin), bound});
        },
        [&](const IfNode& n) { return branch(s, n, flow); },
        [&](const SeqNode& n) {
          std::vector<Stmt> out;
          bool same = true;
          for (const Stmt& c : n.stmts) {
            out.push_back(rewrite(c, flow));
            same = same && out.back().same_as(c);
          }
          return same ? s : seq(std::move(out));
        },
        [&](const SyncNode&) {
          flow.then({{}, {}, true});
          return s;
        },
        [&](const AllReduceNode& n) {
          Flow mine;
          for (const Expr& i : n.indices) add_reads(i, n.origin, mine);
          return after_barrier(s, mine, flow);
        },
        [&](const AsyncNode& n) {
          // A group is one statement: what it waits for, it waits for before it begins.
          Flow mine;
          const bool outer = std::exchange(uniform_, false);
          const Stmt body = rewrite(n.body, mine);
          uniform_ = outer;
          return after_barrier(body.same_as(n.body) ? s : make_async(body, n.origin), mine, flow);
        },
        [&](const WaitNode& n) {
          // What a thread waited for it can read itself; the others can after a barrier.
          if (!uniform_) return s;
          flow.then({{}, {}, true});
          return seq({s, make_sync(n.origin)});
        },
        [&](const MmaNode& n) {
          Flow mine;
          for (const Expr& e : {n.a.first, n.b.first}) {
            for (const Expr& i : ir::as<ir::LoadNode>(e)->indices) add_reads(i, n.origin, mine);
            const Access tile{ir::as<ir::LoadNode>(e)->buffer.get(), ir::as<ir::LoadNode>(e)->indices, false, n.origin, true};
            mine.then({{tile}, {tile}, false});
          }
          return after_barrier(s, mine, flow);
        });
  }

  /// Puts a barrier before `s`, which does `mine`, if what happened since the last one asks for it.
  Stmt after_barrier(const Stmt& s, const Flow& mine, Flow& flow) {
    const Access* late = conflict(flow.exit, mine.entry);
    if (late && uniform_) flow.then({{}, {}, true});
    flow.then(mine);
    return late && uniform_ ? seq({make_sync(late->origin), s}) : s;
  }

  Stmt loop(const Stmt& s, const ForNode& n, Flow& flow) {
    Flow bounds;
    add_reads(n.min, n.origin, bounds);
    add_reads(n.extent, n.origin, bounds);
    bind_loop(facts_, n);
    const bool together = !differs(n.min) && !differs(n.extent);
    if (!together) dependent_.insert(n.var.get());
    const bool outer = std::exchange(uniform_, uniform_ && together);
    same_.insert(n.var.get());
    Flow inner;
    Stmt body = rewrite(n.body, inner);
    same_.erase(n.var.get());
    const bool repeats = !ir::is_int(n.extent, 1);
    if (const Access* late = repeats && uniform_ ? conflict(inner.exit, inner.entry) : nullptr) {
      body = seq({make_sync(late->origin), body});
      inner.entry.clear();
      inner.fenced = true;
    }
    uniform_ = outer;
    const auto extent = ir::as_int(n.extent);
    if (!extent || *extent < 1) inner.fenced = false;
    bounds.then(inner);
    return after_barrier(body.same_as(n.body) ? s : make_for(n.var, n.min, n.extent, n.for_kind, body, n.origin), bounds, flow);
  }

  Stmt branch(const Stmt& s, const IfNode& n, Flow& flow) {
    Flow mine, then_flow, else_flow;
    add_reads(n.cond, n.origin, mine);
    const bool outer = std::exchange(uniform_, uniform_ && !differs(n.cond));
    const Stmt t = rewrite(n.then_body, then_flow);
    std::optional<Stmt> e;
    if (n.else_body) e = rewrite(*n.else_body, else_flow);
    uniform_ = outer;
    Flow either = then_flow;
    either.entry.insert(either.entry.end(), else_flow.entry.begin(), else_flow.entry.end());
    either.exit.insert(either.exit.end(), else_flow.exit.begin(), else_flow.exit.end());
    either.fenced = then_flow.fenced && else_flow.fenced;
    mine.then(either);
    const bool same = t.same_as(n.then_body) && (!e || e->same_as(*n.else_body));
    return after_barrier(same ? s : if_then(n.cond, t, e, n.origin), mine, flow);
  }

  /// The first of `later` that must wait for one of `earlier`, or null.
  const Access* conflict(const std::vector<Access>& earlier, const std::vector<Access>& later) const {
    for (const Access& b : later)
      for (const Access& a : earlier)
        if (a.array == b.array && (a.write || b.write) && !one_thread(a, b) && !other_turn(a, b)) return &b;
    return nullptr;
  }

  Expr flat(const Access& a) const {
    if (a.indices.size() == 1) return a.indices[0];
    Expr at = ir::index(0);
    for (size_t d = 0; d < a.indices.size(); ++d) at = at * a.array->shape[d] + a.indices[d];
    return at;
  }

  /// Whether elements that both touch are touched by one thread only: that the places are equal, as a whole or dimension by dimension, says that each
  /// coordinate of the threads is equal.
  bool one_thread(const Access& a, const Access& b) const {
    if (a.tile || b.tile) return false;
    std::unordered_set<const ir::VarNode*> equal;
    // Simplified, for quotients and remainders of fused loops often cancel.
    find_equal(facts_.linear(facts_.simplify(flat(a))), facts_.linear(facts_.simplify(flat(b))), 0, equal);
    for (size_t d = 0; equal.size() < threads_.size() && a.indices.size() == b.indices.size() && d < a.indices.size(); ++d)
      find_equal(facts_.linear(a.indices[d]), facts_.linear(b.indices[d]), 0, equal);
    return equal.size() == threads_.size();
  }

  /// A part of the difference of two places: weight * d with d in [lo, hi].
  struct Digit {
    int64_t lo = 0, hi = 0;
    std::optional<Expr> same;  ///< what d is the difference of, if it is of one expression in both places only
    bool sealed = false;       ///< of other expressions too
  };

  /// Adds the coordinates of threads that are equal where x and y differ by `noise` at most. The difference is read as a number in mixed radix: where the
  /// weight of a digit is more than all below it can make up, it and all above it are 0.
  void find_equal(const arith::Linear& x, const arith::Linear& y, int64_t noise, std::unordered_set<const ir::VarNode*>& equal) const {
    const auto coefficient = [](const arith::Linear& l, const Expr& atom) {
      for (const auto& t : l.terms)
        if (arith::same_atom(t.atom, atom)) return t.coeff;
      return int64_t{0};
    };
    std::map<int64_t, Digit> digits;
    for (const arith::Linear* l : {&x, &y})
      for (const auto& t : l->terms) {
        const auto* v = ir::as<ir::VarNode>(t.atom);
        const bool both = coefficient(x, t.atom) == coefficient(y, t.atom);
        if (both && v && same_.contains(v)) continue;  // one value for both
        const arith::Bounds range = facts_.bounds(t.atom);
        if (!range.finite() || (!both && differs(t.atom))) return;
        const int64_t sign = (l == &x) == (t.coeff > 0) ? 1 : -1;
        Digit& d = digits[std::abs(t.coeff)];
        d.lo += sign > 0 ? range.lo : -range.hi;
        d.hi += sign > 0 ? range.hi : -range.lo;
        d.sealed = d.sealed || !both || (d.same && !arith::same_atom(*d.same, t.atom));
        d.same = t.atom;
      }
    std::vector<Expr> proven;
    int64_t below = noise + std::abs(x.constant - y.constant);
    for (const auto& [weight, d] : digits) {
      if (weight <= below) proven.clear();
      if (weight > below && !d.sealed) proven.push_back(*d.same);
      below += weight * std::max(std::abs(d.lo), std::abs(d.hi));
    }
    for (const Expr& e : proven) {
      const auto* v = ir::as<ir::VarNode>(e);
      if (v && is_thread(v)) equal.insert(v);
      // x // c and x % c together say what x is.
      const auto* q = ir::as<ir::BinaryNode>(e);
      const auto c = q && q->op == ir::BinaryOp::floor_div ? ir::as_int(q->b) : std::nullopt;
      if (!c || *c < 1) continue;
      const bool rest = std::any_of(proven.begin(), proven.end(), [&](const Expr& o) { return arith::same_atom(o, ir::floor_mod(q->a, q->b)); });
      find_equal(facts_.linear(q->a), facts_.linear(q->a), rest ? 0 : *c - 1, equal);
    }
  }
  bool is_thread(const ir::VarNode* v) const {
    return std::any_of(threads_.begin(), threads_.end(), [&](const auto& t) { return t.first == v; });
  }

  /// Whether the accesses differ in a dimension that counts modulo a number: arrays in turn of a stage that is computed ahead.
  bool other_turn(const Access& a, const Access& b) const {
    if (a.indices.size() != a.array->shape.size() || b.indices.size() != a.indices.size()) return false;
    for (size_t d = 0; d < a.indices.size(); ++d) {
      const auto [x, m] = slot(a.indices[d], a.array->shape, d);
      const auto [y, n] = slot(b.indices[d], b.array->shape, d);
      if (m != n || m < 2) continue;
      if ((a.tile || b.tile) && x.same_as(a.indices[d]) && y.same_as(b.indices[d])) continue;  // a tile may extend along this one
      arith::Linear gap = facts_.linear(x);
      gap.add(facts_.linear(y), -1);
      if (gap.is_constant() && steady(x) && steady(y) && floor_mod_int(gap.constant, m) != 0) return true;
    }
    return false;
  }
  /// x and m of an index x mod m; others are what they are modulo the dimension.
  static std::pair<Expr, int64_t> slot(const Expr& index, const std::vector<int64_t>& shape, size_t d) {
    const auto* b = ir::as<ir::BinaryNode>(index);
    const auto m = b && b->op == ir::BinaryOp::floor_mod ? ir::as_int(b->b) : std::nullopt;
    if (m) return {b->a, *m};
    return {index, shape[d]};
  }
  /// Whether all variables of an expression have one value for both accesses.
  bool steady(const Expr& e) const {
    bool ok = true;
    ir::walk(e, [&](const Expr& x) {
      const auto* v = ir::as<ir::VarNode>(x);
      ok = ok && (!v || same_.contains(v)) && !ir::as<ir::LoadNode>(x);
    });
    return ok;
  }

  std::vector<std::pair<const ir::VarNode*, int64_t>> threads_;
  std::unordered_set<const ir::VarNode*> dependent_;  ///< variables of which threads may have different values
  std::unordered_set<const ir::VarNode*> same_;       ///< of the loops around: one value for all accesses that are compared
  arith::Analyzer facts_;
  bool uniform_ = true;  ///< all threads come by
};

Stmt rewrite_launches(const Stmt& s);

/// The statement inside all loops over blocks and threads, rewritten.
Stmt rewrite_launch(const Stmt& s, Threads& threads) {
  const auto* n = as<ForNode>(s);
  if (n && is_bound(n->for_kind) && n->for_kind != ForKind::vthread) {
    is_thread(n->for_kind) ? threads.add_thread(*n) : threads.add_block(*n);
    const Stmt body = rewrite_launch(n->body, threads);
    return body.same_as(n->body) ? s : make_for(n->var, n->min, n->extent, n->for_kind, body, n->origin);
  }
  if (const auto* a = as<AllocNode>(s); a && a->buffer->scope == ir::Scope::shared) {
    const Stmt body = rewrite_launch(a->body, threads);
    return body.same_as(a->body) ? s : alloc(a->buffer, body, a->origin);
  }
  return threads.run(s);
}

Stmt rewrite_launches(const Stmt& s) {
  const auto* n = as<ForNode>(s);
  if (n && is_bound(n->for_kind) && n->for_kind != ForKind::vthread) {
    Threads threads;
    return rewrite_launch(s, threads);
  }
  return map_children(s, rewrite_launches, [](const Expr& e) { return e; });
}

}  // namespace

Func insert_barriers(const Func& f, const Target&) {
  Func out = f;
  out.body = rewrite_launches(f.body);
  return out;
}

}  // namespace tw::tir
