// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/vectorize_reductions.h"

#include <algorithm>

#include "engine/ir/equal.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

/// More partial results than this would not stay in registers.
constexpr int64_t kMaxPartials = 512;

bool reads(const Expr& e, const ir::BufferNode* buffer) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) {
    const auto* l = ir::as<ir::LoadNode>(x);
    found = found || (l && l->buffer.get() == buffer);
  });
  return found;
}

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

class Rewriter {
 public:
  explicit Rewriter(const Nest& nest) : nest_(nest), lanes_(*nest.lanes()), count_(lanes_) {
    for (const ForNode* loop : nest.loops) {
      const auto n = ir::as_int(loop->extent);
      if (loop->for_kind != ForKind::unrolled || !n || *n < 1 || count_ * *n > kMaxPartials) continue;
      own_.push_back({loop, count_});
      count_ *= *n;
    }
    const StoreNode& u = *nest.update;
    partials_ = ir::make_buffer(u.buffer->name + "_lanes", u.buffer->dtype, {count_}, ir::Scope::local);
  }

  Stmt run(const Stmt& outermost) const {
    const StoreNode& u = *nest_.update;
    const Expr start = *Nest::identity(nest_.combine->op, u.buffer->dtype);
    std::vector<Stmt> out;
    for (int64_t at = 0; at < count_; at += lanes_)
      out.push_back(store(partials_, {ir::ramp(ir::index(at), ir::index(1), static_cast<int>(lanes_))}, start, u.origin));
    out.push_back(updates(outermost));
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
  Stmt updates(const Stmt& s) const {
    const auto* branch = as<IfNode>(s);
    if (branch && as<StoreNode>(branch->then_body) && ir::uses_var(branch->cond, nest_.vector->var.get()))
      return update(ir::select(branch->cond, nest_.combine->b, *Nest::identity(nest_.combine->op, partials_->dtype)));
    if (as<StoreNode>(s)) return update(nest_.combine->b);
    return map_children(
        s, [&](const Stmt& c) { return updates(c); }, [](const Expr& e) { return e; });
  }

  Stmt update(const Expr& term) const {
    Expr at = ir::to_expr(nest_.vector->var) - nest_.vector->min;
    for (const auto& [loop, stride] : own_) at = at + (ir::to_expr(loop->var) - loop->min) * stride;
    return store(partials_, {at}, ir::binary(nest_.combine->op, ir::load(partials_, {at}), term), nest_.update->origin);
  }

  const Nest& nest_;
  const int64_t lanes_;
  int64_t count_;
  std::vector<std::pair<const ForNode*, int64_t>> own_;  ///< unrolled loops, each turn with partial results of its own, and their distance
  Buffer partials_ = ir::make_buffer("", kFloat32, {1});
};

Stmt rewrite(const Stmt& s) {
  if (const auto* loop = as<ForNode>(s)) {
    const Nest nest(*loop);
    if (nest.update) return Rewriter(nest).run(s);
  }
  return map_children(s, rewrite, [](const Expr& e) { return e; });
}

}  // namespace

Func vectorize_reductions(const Func& f, const Target&) {
  Func out = f;
  out.body = rewrite(f.body);
  return out;
}

}  // namespace tw::tir
