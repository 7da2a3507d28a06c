// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/vectorize_reductions.h"

#include <algorithm>
#include <unordered_map>

#include "engine/ir/equal.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

/// More partial results than this would not stay in registers.
constexpr int64_t kMaxPartials = 512;

/// Loops and conditions around one update, with nothing else inside.
struct Nest {
  std::vector<const ForNode*> loops;  ///< outermost first
  const ForNode* vector = nullptr;
  const StoreNode* update = nullptr;  ///< buffer[indices] = buffer[indices] op term
  const ir::BinaryNode* combine = nullptr;
  std::vector<Expr> invariant;  ///< conditions that hold for all turns of the loops or for none

  explicit Nest(const ForNode& outermost) {
    Stmt s(&outermost);
    std::vector<const Expr*> conditions;
    for (;;) {
      if (const auto* loop = as<ForNode>(s)) {
        if (is_concurrent(loop->for_kind)) return;
        if (loop->for_kind == ForKind::vectorized) vector = vector ? nullptr : loop;
        loops.push_back(loop);
        s = loop->body;
      } else if (const auto* branch = as<IfNode>(s); branch && !branch->else_body) {
        conditions.push_back(&branch->cond);
        s = branch->then_body;
      } else {
        break;
      }
    }
    const auto* store = as<StoreNode>(s);
    if (!store || !vector || !lanes()) return;
    combine = ir::as<ir::BinaryNode>(store->value);
    if (!combine || !identity(combine->op, combine->dtype)) return;
    const auto* old = ir::as<ir::LoadNode>(combine->a);
    if (!old || old->buffer.get() != store->buffer.get() || reads(combine->b, store->buffer.get())) return;
    for (size_t k = 0; k < store->indices.size(); ++k) {
      if (!ir::structural_equal(old->indices[k], store->indices[k])) return;
      for (const ForNode* loop : loops)
        if (ir::uses_var(store->indices[k], loop->var.get())) return;
    }
    for (const Expr* c : conditions) {
      if (reads(*c, store->buffer.get())) return;
      keep_invariant(*c);
    }
    update = store;
  }

  std::optional<int64_t> lanes() const {
    const auto n = ir::as_int(vector->extent);
    return n && *n >= 2 && *n <= kMaxPartials ? n : std::nullopt;
  }
  void keep_invariant(const Expr& c) {
    const auto* b = ir::as<ir::BinaryNode>(c);
    if (b && b->op == ir::BinaryOp::and_) {
      keep_invariant(b->a);
      keep_invariant(b->b);
    } else if (std::none_of(loops.begin(), loops.end(), [&](const ForNode* l) { return ir::uses_var(c, l->var.get()); })) {
      invariant.push_back(c);
    }
  }
  static std::optional<Expr> identity(ir::BinaryOp op, DType t) {
    switch (op) {
      case ir::BinaryOp::add:
        return ir::zero(t);
      case ir::BinaryOp::mul:
        return ir::constant(t, 1);
      case ir::BinaryOp::max:
        return ir::lowest(t);
      case ir::BinaryOp::min:
        return ir::highest(t);
      default:
        return std::nullopt;
    }
  }
};

/// Whether two nests add to one element under the same conditions: the loop and the tail of a row that was cut.
bool continues(const Nest& first, const Nest& next) {
  const auto same = [](const std::vector<Expr>& a, const std::vector<Expr>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Expr& x, const Expr& y) { return ir::structural_equal(x, y); });
  };
  return next.update && next.update->buffer.get() == first.update->buffer.get() && next.combine->op == first.combine->op && *next.lanes() == *first.lanes() &&
         same(next.update->indices, first.update->indices) && same(next.invariant, first.invariant);
}

/// Rewrites nests that follow each other and continue one reduction: they share their partial results.
class Rewriter {
 public:
  explicit Rewriter(const std::vector<Nest>& nests) : nests_(nests), nest_(nests.front()), lanes_(*nest_.lanes()), count_(lanes_) {
    for (const Nest& nest : nests) {
      int64_t count = lanes_;
      for (const ForNode* loop : nest.loops) {
        const auto n = ir::as_int(loop->extent);
        if (!is_unrolled(loop->for_kind) || !n || *n < 1 || count * *n > kMaxPartials) continue;
        own_.emplace(loop, count);
        count *= *n;
      }
      count_ = std::max(count_, count);
    }
    const StoreNode& u = *nest_.update;
    partials_ = ir::make_buffer(u.buffer->name + "_lanes", u.buffer->dtype, {count_}, ir::Scope::local);
  }

  Stmt run() const {
    const StoreNode& u = *nest_.update;
    const Expr start = *Nest::identity(nest_.combine->op, u.buffer->dtype);
    std::vector<Stmt> out;
    for (int64_t at = 0; at < count_; at += lanes_)
      out.push_back(store(partials_, {ir::ramp(ir::index(at), ir::index(1), static_cast<int>(lanes_))}, start, u.origin));
    for (const Nest& nest : nests_) out.push_back(updates(nest, Stmt(nest.loops.front())));
    for (int64_t left = count_; left > 1;) {
      // Whole vectors first, then halves of one.
      const int64_t vectors = left / lanes_, half = vectors > 1 ? vectors / 2 * lanes_ : left % 2 == 0 ? left / 2 : 1;
      fold(out, left - half, half);
      left -= half;
    }
    const Expr whole = ir::binary(nest_.combine->op, ir::load(u.buffer, u.indices), ir::load(partials_, {ir::index(0)}));
    Stmt last = store(u.buffer, u.indices, whole, u.origin);
    for (const Expr& c : nest_.invariant) last = if_then(c, last, std::nullopt, u.origin);
    out.push_back(std::move(last));
    return alloc(partials_, seq(std::move(out)), u.origin);
  }

 private:
  /// partials[0:n] = partials[0:n] op partials[from:from + n], a vector at a time.
  void fold(std::vector<Stmt>& out, int64_t from, int64_t n) const {
    for (int64_t at = 0; at < n;) {
      const int64_t width = std::min(lanes_, n - at);
      const auto piece = [&](int64_t first) { return width == 1 ? ir::index(first) : ir::ramp(ir::index(first), ir::index(1), static_cast<int>(width)); };
      const Expr sum = ir::binary(nest_.combine->op, ir::load(partials_, {piece(at)}), ir::load(partials_, {piece(from + at)}));
      out.push_back(store(partials_, {piece(at)}, sum, nest_.update->origin));
      at += width;
    }
  }

  /// A condition on the lane chooses between the term and what changes nothing, so that whole vectors are stored and stay in registers.
  Stmt updates(const Nest& nest, const Stmt& s) const {
    const auto* branch = as<IfNode>(s);
    if (branch && as<StoreNode>(branch->then_body) && ir::uses_var(branch->cond, nest.vector->var.get()))
      return update(nest, ir::select(branch->cond, nest.combine->b, *Nest::identity(nest.combine->op, partials_->dtype)));
    if (as<StoreNode>(s)) return update(nest, nest.combine->b);
    return map_children(
        s, [&](const Stmt& c) { return updates(nest, c); }, [](const Expr& e) { return e; });
  }

  Stmt update(const Nest& nest, const Expr& term) const {
    Expr at = ir::to_expr(nest.vector->var) - nest.vector->min;
    for (const ForNode* loop : nest.loops)
      if (const auto own = own_.find(loop); own != own_.end()) at = at + (ir::to_expr(loop->var) - loop->min) * own->second;
    return store(partials_, {at}, ir::binary(nest.combine->op, ir::load(partials_, {at}), term), nest.update->origin);
  }

  const std::vector<Nest>& nests_;
  const Nest& nest_;  ///< the first
  const int64_t lanes_;
  int64_t count_;
  std::unordered_map<const ForNode*, int64_t> own_;  ///< unrolled loops, each turn with partial results of its own, and their distance
  Buffer partials_ = ir::make_buffer("", kFloat32, {1});
};

/// The statement as the start of a reduction; nothing if it is none.
std::optional<Nest> nest_of(const Stmt& s) {
  const auto* loop = as<ForNode>(s);
  if (!loop) return std::nullopt;
  Nest nest(*loop);
  return nest.update ? std::optional(std::move(nest)) : std::nullopt;
}

Stmt rewrite(const Stmt& s) {
  if (const auto nest = nest_of(s)) return Rewriter({*nest}).run();
  const auto* q = as<SeqNode>(s);
  if (!q) return map_children(s, rewrite, [](const Expr& e) { return e; });
  std::vector<Stmt> out;
  bool changed = false;
  for (size_t i = 0; i < q->stmts.size();) {
    std::vector<Nest> nests;
    for (; i < q->stmts.size(); ++i) {
      auto next = nest_of(q->stmts[i]);
      if (!next || (!nests.empty() && !continues(nests.front(), *next))) break;
      nests.push_back(std::move(*next));
    }
    if (nests.empty()) {
      out.push_back(rewrite(q->stmts[i]));
      changed = changed || !out.back().same_as(q->stmts[i]);
      ++i;
    } else {
      out.push_back(Rewriter(nests).run());
      changed = true;
    }
  }
  return changed ? seq(std::move(out)) : s;
}

}  // namespace

Func vectorize_reductions(const Func& f, const Target&) {
  Func out = f;
  out.body = rewrite(f.body);
  return out;
}

}  // namespace tw::tir
