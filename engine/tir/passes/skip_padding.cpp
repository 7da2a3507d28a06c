// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/skip_padding.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "engine/arith/analyzer.h"
#include "engine/arith/span.h"
#include "engine/ir/conjuncts.h"
#include "engine/ir/equal.h"
#include "engine/tir/conditions.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

using arith::Analyzer;
using arith::Bounds;

/// Updates inside a loop, a vector being one, from which on a test before them, a cycle or two, is little beside them.
constexpr double kMinUpdates = 32;
/// Those whose selects, a test for each element, cost more than one before them.
constexpr double kMinSelects = 4;
/// Those that take as long as the accesses to memory that a gap costs: two, of a hundred nanoseconds, at two or three updates a cycle.
constexpr double kGapUpdates = 2048;
/// Values of a test that are looked at.
constexpr int64_t kMaxValues = 1 << 16;

using Box = std::vector<Bounds>;  ///< of an array, by dimension

double turns_of(const ForNode& n) { return static_cast<double>(ir::as_int(n.extent).value_or(1)); }

bool is_zero(const Expr& e) {
  const auto* f = ir::as<ir::FloatImmNode>(e);
  return ir::is_int(e, 0) || (f && f->value == 0);
}

/// Where arrays of the function can hold anything but zero.
class Boxes {
 public:
  explicit Boxes(const Func& f) {
    for (const Buffer& b : f.params) params_.insert(b.get());
    visit(f.body);
  }
  /// Nothing for arrays that come from outside, or hold what is not known anywhere.
  const Box* of(const ir::BufferNode* b) const {
    const auto at = boxes_.find(b);
    return at == boxes_.end() || params_.count(b) != 0 ? nullptr : &at->second;
  }

 private:
  void visit(const Stmt& s) {
    if (const auto* n = as<ForNode>(s)) bind_loop(facts_, *n);
    if (const auto* n = as<IfNode>(s)) {
      conditions_.push_back(n->cond);
      visit(n->then_body);
      conditions_.pop_back();
      if (n->else_body) visit(*n->else_body);
      return;
    }
    if (const auto* n = as<StoreNode>(s)) return add(*n);
    map_children(
        s, [&](const Stmt& c) { return visit(c), c; }, [](const Expr& e) { return e; });
  }

  void add(const StoreNode& n) {
    if (is_zero(n.value)) {
      boxes_.try_emplace(n.buffer.get(), Box(n.buffer->shape.size(), {1, 0}));
      return;
    }
    std::vector<Expr> conditions = conditions_;
    if (const auto* sel = ir::as<ir::SelectNode>(n.value); sel && is_zero(sel->if_false)) conditions.push_back(sel->cond);
    Box box;
    for (const Expr& at : n.indices) {
      Bounds range = facts_.bounds(at);
      for (const Expr& c : conditions) visit_conjuncts(c, [&](const Expr& one) { narrow(range, at, one); });
      box.push_back(range);
    }
    const auto [known, fresh] = boxes_.try_emplace(n.buffer.get(), box);
    if (fresh) return;
    for (size_t d = 0; d < box.size(); ++d) {
      Bounds& all = known->second[d];
      all = all.lo > all.hi ? box[d] : Bounds{std::min(all.lo, box[d].lo), std::max(all.hi, box[d].hi)};
    }
  }

  /// By a condition `at + c <= 0` or `c - at <= 0`.
  void narrow(Bounds& range, const Expr& at, const Expr& condition) const {
    const auto l = non_positive(condition, facts_);
    if (!l) return;
    for (const int64_t sign : {1, -1}) {
      arith::Linear rest = *l;
      rest.add(facts_.linear(at), -sign);
      if (!rest.is_constant()) continue;
      if (sign > 0)
        range.hi = std::min(range.hi, -rest.constant);
      else
        range.lo = std::max(range.lo, rest.constant);
    }
  }

  Analyzer facts_;
  std::vector<Expr> conditions_;  ///< that hold here
  std::unordered_set<const ir::BufferNode*> params_;
  std::unordered_map<const ir::BufferNode*, Box> boxes_;
};

/// What must hold for a term not to be zero: `index` lies within `range`.
struct Condition {
  Expr index;
  Bounds range;
  const ir::LoadNode* load = nullptr;  ///< whose index it is, if it is one
  size_t dimension = 0;
};

void visit_conditions(const Expr& e, const Boxes& boxes, const Analyzer& facts, std::vector<Condition>& out) {
  if (const auto* b = ir::as<ir::BinaryNode>(e); b && b->op == ir::BinaryOp::mul) {
    visit_conditions(b->a, boxes, facts, out);
    visit_conditions(b->b, boxes, facts, out);
  } else if (b && b->op == ir::BinaryOp::add) {  // not zero if one of both is not: what they have in common
    std::vector<Condition> one, other;
    visit_conditions(b->a, boxes, facts, one);
    visit_conditions(b->b, boxes, facts, other);
    for (const auto& [from, in] : {std::pair(&one, &other), std::pair(&other, &one)})
      std::copy_if(from->begin(), from->end(), std::back_inserter(out), [&, in = in](const Condition& c) {
        return std::any_of(in->begin(), in->end(), [&](const Condition& d) { return c.range.lo == d.range.lo && c.range.hi == d.range.hi && ir::structural_equal(c.index, d.index); });
      });
  } else if (const auto* c = ir::as<ir::CastNode>(e)) {
    visit_conditions(c->value, boxes, facts, out);
  } else if (const auto* s = ir::as<ir::SelectNode>(e); s && is_zero(s->if_false)) {
    visit_conjuncts(s->cond, [&](const Expr& one) {
      if (const auto l = non_positive(one, facts)) out.push_back({l->to_expr(), {Bounds::kNegInf, 0}, nullptr, 0});
    });
  } else if (const auto* l = ir::as<ir::LoadNode>(e)) {
    const Box* box = boxes.of(l->buffer.get());
    for (size_t d = 0; box && d < box->size(); ++d)
      if ((*box)[d].lo > 0 || (*box)[d].hi < l->buffer->shape[d] - 1) out.push_back({l->indices[d], (*box)[d], l, d});
  }
}

/// Loops around one sum, with nothing else inside.
struct PaddedNest {
  std::vector<const ForNode*> loops;  ///< outermost first
  const StoreNode* update = nullptr;
  Expr term = ir::index(0);

  explicit PaddedNest(const ForNode& outermost) {
    Stmt s(&outermost);
    for (;;) {
      if (const auto* loop = as<ForNode>(s)) {
        if (is_concurrent(loop->for_kind)) return;
        loops.push_back(loop);
        s = loop->body;
      } else if (const auto* branch = as<IfNode>(s); branch && !branch->else_body) {
        s = branch->then_body;
      } else {
        break;
      }
    }
    const auto* store = as<StoreNode>(s);
    const auto* sum = store ? ir::as<ir::BinaryNode>(store->value) : nullptr;
    const auto* old = sum && sum->op == ir::BinaryOp::add ? ir::as<ir::LoadNode>(sum->a) : nullptr;
    if (!old || old->buffer.get() != store->buffer.get()) return;
    for (size_t d = 0; d < store->indices.size(); ++d)
      if (!ir::structural_equal(old->indices[d], store->indices[d])) return;
    update = store;
    term = sum->b;
  }

  /// Pieces of the largest other array that the term reads, each what one turn of a loop reads of it; 0 if there is none.
  double pieces(size_t loop, const ir::BufferNode* padded) const {
    const ir::LoadNode* other = nullptr;
    ir::walk(term, [&](const Expr& e) {
      const auto* l = ir::as<ir::LoadNode>(e);
      if (l && l->buffer.get() != padded && (!other || l->buffer->num_elements() > other->buffer->num_elements())) other = l;
    });
    if (!other) return 0;
    auto n = static_cast<double>(other->buffer->num_elements());
    for (size_t k = loop + 1; k < loops.size(); ++k)
      if (std::any_of(other->indices.begin(), other->indices.end(), [&](const Expr& i) { return ir::uses_var(i, loops[k]->var.get()); })) n /= turns_of(*loops[k]);
    return n;
  }

  /// Updates inside one turn of a loop.
  double updates(size_t loop) const {
    double n = 1;
    for (size_t k = loop + 1; k < loops.size(); ++k)
      if (loops[k]->for_kind != ForKind::vectorized) n *= turns_of(*loops[k]);
    return n;
  }
};

/// What is read of arrays along each dimension once turns are left out.
using Reads = std::map<std::pair<const ir::BufferNode*, size_t>, Bounds>;

class Skipper {
 public:
  explicit Skipper(const Func& f) : boxes_(f) {}

  Stmt stmt(const Stmt& s) {
    const auto* n = as<ForNode>(s);
    if (!n) {
      note_reads(s);
      return map_children(
          s, [&](const Stmt& c) { return stmt(c); }, [](const Expr& e) { return e; });
    }
    if (const PaddedNest nest(*n); nest.update) return sum(s, nest);
    bind_loop(facts_, *n);
    fixed_.insert(n->var.get());
    const double outside = std::exchange(turns_, turns_ * turns_of(*n));
    const Stmt body = stmt(n->body);
    turns_ = outside;
    fixed_.erase(n->var.get());
    return body.same_as(n->body) ? s : make_for(n->var, n->min, n->extent, n->for_kind, body, n->origin);
  }

  /// Of arrays that are read less than before.
  Reads reads() const {
    Reads out;
    std::copy_if(reads_.begin(), reads_.end(), std::inserter(out, out.end()), [&](const auto& r) { return trimmed_.count(r.first.first) != 0; });
    return out;
  }
  bool changed() const { return changed_; }

 private:
  void note(const ir::BufferNode* b, size_t d, Bounds range) {
    const auto [at, fresh] = reads_.try_emplace({b, d}, range);
    if (!fresh) at->second = {std::min(at->second.lo, range.lo), std::max(at->second.hi, range.hi)};
  }
  /// What is known of the indices of loads, beside their bounds.
  using Known = std::unordered_map<const ir::LoadNode*, std::vector<Bounds>>;

  void note_all(const Expr& root, const Known& known) {
    ir::walk(root, [&](const Expr& e) {
      const auto* l = ir::as<ir::LoadNode>(e);
      for (size_t d = 0; l && d < l->indices.size(); ++d) {
        Bounds range = facts_.bounds(l->indices[d]);
        if (const auto at = known.find(l); at != known.end()) range = {std::max(range.lo, at->second[d].lo), std::min(range.hi, at->second[d].hi)};
        note(l->buffer.get(), d, range);
      }
    });
  }
  /// Of what stands directly in a statement.
  void note_reads(const Stmt& s) {
    map_children(
        s, [](const Stmt& c) { return c; }, [&](const Expr& e) { return note_all(e, {}), e; });
  }

  Stmt sum(const Stmt& s, const PaddedNest& nest) {
    for (const ForNode* loop : nest.loops) bind_loop(facts_, *loop);
    std::vector<Condition> conditions;
    visit_conditions(nest.term, boxes_, facts_, conditions);
    std::unordered_map<const ForNode*, Expr> guards;
    Known known;
    for (const Condition& c : conditions)
      if (const auto read = guard(nest, c, guards); read && c.load)
        known.try_emplace(c.load, std::vector<Bounds>(c.load->indices.size())).first->second[c.dimension] = *read;
    walk_exprs(s, [&](const Expr& e) { note_all(e, e.same_as(nest.update->value) ? known : Known()); });
    if (guards.empty()) return s;
    const Stmt out = guarded(s, guards);
    const auto around = guards.find(nullptr);
    return around == guards.end() ? out : if_then(around->second, out, std::nullopt, nest.loops.front()->origin);
  }

  /// The innermost of the loops that an index is made of, if all will be written out: a test there is decided ahead of time and costs nothing.
  static const ForNode* written_out(const PaddedNest& nest, const Expr& index) {
    std::unordered_set<const ir::VarNode*> vars;
    ir::walk(index, [&](const Expr& e) {
      if (const auto* v = ir::as<ir::VarNode>(e)) vars.insert(v);
    });
    const ForNode* innermost = nullptr;
    for (const ForNode* loop : nest.loops)
      if (vars.erase(loop->var.get()) != 0) {
        if (loop->for_kind != ForKind::unrolled || !ir::as_int(loop->extent)) return nullptr;
        innermost = loop;
      }
    return vars.empty() ? innermost : nullptr;
  }

  /// Adds what must hold to a loop's test, or to that around all loops: that an index lies in a range.
  void add_test(const ForNode* loop, const Expr& at, const Bounds& wanted, const ir::LoadNode* load, std::unordered_map<const ForNode*, Expr>& guards) {
    std::vector<Expr> tests;
    if (wanted.lo != Bounds::kNegInf) tests.push_back(ir::index(wanted.lo) <= at);
    if (wanted.hi != Bounds::kPosInf) tests.push_back(at <= ir::index(wanted.hi));
    for (const Expr& t : tests) {
      if (facts_.prove(t)) continue;
      const auto [known, fresh] = guards.try_emplace(loop, t);
      bool there = fresh;
      visit_conjuncts(known->second, [&](const Expr& one) { there = there || ir::structural_equal(one, t); });
      if (!there) known->second = known->second && t;
      if (load) trimmed_.insert(load->buffer.get());
      changed_ = true;
    }
  }

  /// Adds the test for the innermost loop that has something to gain by it; gives what is read of the index where the test holds.
  std::optional<Bounds> guard(const PaddedNest& nest, const Condition& c, std::unordered_map<const ForNode*, Expr>& guards) {
    if (const ForNode* loop = written_out(nest, c.index)) {
      add_test(loop, c.index, c.range, c.load, guards);
      return c.range;
    }
    const double least = c.load ? kMinUpdates : kMinSelects;
    if (!c.load && std::none_of(nest.loops.begin(), nest.loops.end(), [&](const ForNode* loop) { return ir::uses_var(c.index, loop->var.get()); })) {
      if (nest.updates(0) * turns_of(*nest.loops[0]) < least) return std::nullopt;
      add_test(nullptr, c.index, c.range, nullptr, guards);
      return c.range;
    }
    for (size_t k = nest.loops.size(); k-- > 0;) {
      const ForNode& loop = *nest.loops[k];
      const bool plain = loop.for_kind == ForKind::serial || (!c.load && loop.for_kind == ForKind::unrolled);
      if (!plain || nest.updates(k) < least || !ir::uses_var(c.index, loop.var.get())) continue;
      arith::FixedVars fixed = fixed_;
      for (size_t outer = 0; outer <= k; ++outer) fixed.insert(nest.loops[outer]->var.get());
      const auto span = arith::span_of(c.index, fixed, facts_);
      if (!span) return std::nullopt;
      const Expr at = span->fixed.to_expr();
      Bounds read;
      const Bounds wanted{c.range.lo == Bounds::kNegInf ? Bounds::kNegInf : c.range.lo - span->hi, c.range.hi == Bounds::kPosInf ? Bounds::kPosInf : c.range.hi - span->lo};
      double turns = turns_;
      for (size_t outer = 0; outer <= k; ++outer) turns *= turns_of(*nest.loops[outer]);
      const double pieces = nest.pieces(k, c.load ? c.load->buffer.get() : nullptr);
      if (c.load && pieces > 0 && !pays_to_leave_out(share_outside(span->fixed, wanted) * turns / pieces, nest.updates(k))) return std::nullopt;
      if (c.range.lo != Bounds::kNegInf) read.lo = wanted.lo + span->lo;
      if (c.range.hi != Bounds::kPosInf) read.hi = wanted.hi + span->hi;
      add_test(&loop, at, wanted, c.load, guards);
      return read;
    }
    return std::nullopt;
  }

  /// Share of the values of a sum that lie beside `wanted`, if each of its parts takes all of its values equally often; 0 where there are too many to look at.
  double share_outside(const arith::Linear& sum, const Bounds& wanted) const {
    std::vector<int64_t> values{sum.constant};
    for (const arith::Linear::Term& t : sum.terms) {
      const Bounds b = facts_.bounds(t.atom);
      if (!b.finite() || b.hi - b.lo >= kMaxValues / static_cast<int64_t>(values.size())) return 0;
      std::vector<int64_t> next;
      for (const int64_t v : values)
        for (int64_t x = b.lo; x <= b.hi; ++x) next.push_back(v + t.coeff * x);
      values = std::move(next);
    }
    const auto outside = std::count_if(values.begin(), values.end(), [&](int64_t v) { return v < wanted.lo || v > wanted.hi; });
    return static_cast<double>(outside) / static_cast<double>(values.size());
  }

  Stmt guarded(const Stmt& s, const std::unordered_map<const ForNode*, Expr>& guards) {
    const Stmt out = map_children(
        s, [&](const Stmt& c) { return guarded(c, guards); }, [](const Expr& e) { return e; });
    const auto* n = as<ForNode>(s);
    const auto test = n ? guards.find(n) : guards.end();
    if (test == guards.end()) return out;
    return make_for(n->var, n->min, n->extent, n->for_kind, if_then(test->second, as<ForNode>(out)->body, std::nullopt, n->origin), n->origin);
  }

  Boxes boxes_;
  Analyzer facts_;
  arith::FixedVars fixed_;  ///< variables of the loops around
  double turns_ = 1;        ///< of them all together
  Reads reads_;
  std::unordered_set<const ir::BufferNode*> trimmed_;
  bool changed_ = false;
};

/// Leaves out stores that nobody reads, beside what is read along a dimension, of loops that do nothing but store to one array.
class Trimmer {
 public:
  explicit Trimmer(Reads reads) : reads_(std::move(reads)) {}

  Stmt stmt(const Stmt& s) {
    const auto* n = as<ForNode>(s);
    if (!n)
      return map_children(
          s, [&](const Stmt& c) { return stmt(c); }, [](const Expr& e) { return e; });
    bind_loop(facts_, *n);
    const Stmt body = stmt(n->body);
    const Stmt out = body.same_as(n->body) ? s : make_for(n->var, n->min, n->extent, n->for_kind, body, n->origin);
    return n->for_kind == ForKind::serial || n->for_kind == ForKind::parallel ? trimmed(out) : out;
  }

 private:
  /// The index that stores have in common along a dimension.
  static std::optional<Expr> common_index(const std::vector<const StoreNode*>& stores, size_t d) {
    for (const StoreNode* s : stores)
      if (!ir::structural_equal(s->indices[d], stores.front()->indices[d])) return std::nullopt;
    return stores.front()->indices[d];
  }

  Stmt trimmed(const Stmt& s) {
    const auto& n = *as<ForNode>(s);
    std::vector<const StoreNode*> stores;
    std::unordered_set<const ir::VarNode*> inner;
    bool plain = true;
    walk(n.body, [&](const Stmt& x) {
      if (const auto* st = as<StoreNode>(x)) stores.push_back(st);
      if (const auto* loop = as<ForNode>(x)) inner.insert(loop->var.get());
      plain = plain && !as<AllocNode>(x) && !as<LetNode>(x) && !as<AllReduceNode>(x) && !as<MmaNode>(x) && !as<AsyncNode>(x);
    });
    if (!plain || stores.empty()) return s;
    const ir::BufferNode* array = stores.front()->buffer.get();
    if (std::any_of(stores.begin(), stores.end(), [&](const StoreNode* st) { return st->buffer.get() != array; })) return s;
    std::optional<Expr> test;
    Expr mn = n.min, extent = n.extent;
    for (size_t d = 0; d < array->shape.size(); ++d) {
      const auto read = reads_.find({array, d});
      const auto at = common_index(stores, d);
      if (read == reads_.end() || !at || !ir::uses_var(*at, n.var.get()) || uses_any(*at, inner)) continue;
      const Bounds written = facts_.bounds(*at), wanted = read->second;
      if (written.lo >= wanted.lo && written.hi <= wanted.hi) continue;
      arith::Linear rest = facts_.linear(*at);
      rest.add_term(ir::to_expr(n.var), -1);
      const auto first = ir::as_int(mn), count = ir::as_int(extent);
      if (rest.is_constant() && first && count && n.for_kind == ForKind::serial) {
        const int64_t lo = std::max(*first, wanted.lo - rest.constant), hi = std::min(*first + *count - 1, wanted.hi - rest.constant);
        mn = ir::index(lo);
        extent = ir::index(std::max<int64_t>(0, hi - lo + 1));
        continue;
      }
      for (const Expr& t : {ir::index(wanted.lo) <= *at, *at <= ir::index(wanted.hi)})
        if (!facts_.prove(t)) test = test ? *test && t : t;
    }
    if (ir::is_int(extent, 0)) return nop();
    const Stmt body = test ? if_then(*test, n.body, std::nullopt, n.origin) : n.body;
    return make_for(n.var, mn, extent, n.for_kind, body, n.origin);
  }

  static bool uses_any(const Expr& e, const std::unordered_set<const ir::VarNode*>& vars) {
    bool found = false;
    ir::walk(e, [&](const Expr& x) {
      const auto* v = ir::as<ir::VarNode>(x);
      found = found || (v && vars.count(v) != 0);
    });
    return found;
  }

  const Reads reads_;
  Analyzer facts_;
};

}  // namespace

bool pays_to_leave_out(double turns, double updates) { return turns * updates >= kGapUpdates; }

Func skip_padding(const Func& f, const Target&) {
  Skipper skipper(f);
  Func out = f;
  out.body = skipper.stmt(f.body);
  if (skipper.changed()) out.body = Trimmer(skipper.reads()).stmt(out.body);
  return out;
}

}  // namespace tw::tir
