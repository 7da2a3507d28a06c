// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/single_turns.h"

#include <algorithm>
#include <unordered_set>

#include "engine/arith/analyzer.h"
#include "engine/ir/conjuncts.h"
#include "engine/ir/equal.h"
#include "engine/ir/visit.h"
#include "engine/tir/conditions.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

/// Whether `op` with this on its right leaves the left as it is.
bool changes_nothing(ir::BinaryOp op, const Expr& e) {
  switch (op) {
    case ir::BinaryOp::add:
      return ir::structural_equal(e, ir::zero(e->dtype));
    case ir::BinaryOp::mul:
      return ir::structural_equal(e, ir::constant(e->dtype, 1));
    case ir::BinaryOp::max:
      return ir::structural_equal(e, ir::lowest(e->dtype));
    case ir::BinaryOp::min:
      return ir::structural_equal(e, ir::highest(e->dtype));
    default:
      return false;
  }
}

/// The stores of one loop, as long as they are such that all change memory at the same turn.
class OneTurn {
 public:
  explicit OneTurn(const ForNode& loop) : loop_(loop) {
    fits_ = loop.for_kind == ForKind::serial;
    if (fits_) look(loop.body);
    // What says which turn it is must be what it was before the loop.
    for (const Expr& e : read_)
      ir::walk(e, [&](const Expr& x) {
        const auto* l = ir::as<ir::LoadNode>(x);
        fits_ = fits_ && !(l && written_.contains(l->buffer.get()));
      });
  }
  /// Its number; nothing if there is no such turn.
  const std::optional<Expr>& turn() const { return fits_ ? turn_ : none_; }

  /// What must hold before it may be asked for.
  const std::optional<Expr>& before() const { return before_; }

  Stmt body() const { return substitute(rewritten(loop_.body), {{loop_.var.get(), *turn_}}); }

 private:
  struct Update {
    const ir::BinaryNode* sum;
    const ir::SelectNode* choice;
  };
  /// `A[i] = A[i] op (cond ? x : what changes nothing)`.
  static std::optional<Update> update_of(const StoreNode& n) {
    const auto* sum = ir::as<ir::BinaryNode>(n.value);
    const auto* old = sum ? ir::as<ir::LoadNode>(sum->a) : nullptr;
    const auto* choice = sum ? ir::as<ir::SelectNode>(sum->b) : nullptr;
    const bool same = old && old->buffer.same_as(n.buffer) &&
                      std::equal(old->indices.begin(), old->indices.end(), n.indices.begin(), n.indices.end(),
                                 [](const Expr& a, const Expr& b) { return ir::structural_equal(a, b); });
    return same && choice && changes_nothing(sum->op, choice->if_false) ? std::optional(Update{sum, choice}) : std::nullopt;
  }
  /// Whether an expression is the same at every turn of the loop and of those inside.
  bool stands_still(const Expr& e) const {
    return !ir::uses_var(e, loop_.var.get()) && std::none_of(inner_.begin(), inner_.end(), [&](const ir::VarNode* v) { return ir::uses_var(e, v); });
  }
  /// What a part of a condition says the loop's variable is.
  std::optional<Expr> named_by(const Expr& part) const {
    const auto* eq = ir::as<ir::BinaryNode>(part);
    if (!eq || eq->op != ir::BinaryOp::eq) return std::nullopt;
    for (const auto& [self, other] : {std::pair{eq->a, eq->b}, std::pair{eq->b, eq->a}})
      if (self.get() == loop_.var.get() && stands_still(other)) return other;
    return std::nullopt;
  }

  void look(const Stmt& s) {
    if (const auto* q = as<SeqNode>(s)) {
      for (const Stmt& c : q->stmts) look(c);
    } else if (const auto* n = as<ForNode>(s)) {
      inner_.push_back(n->var.get());
      look(n->body);
    } else if (const auto* n = as<StoreNode>(s)) {
      const auto update = update_of(*n);
      fits_ = fits_ && update;
      if (update) look_at(update->choice->cond);
      written_.insert(n->buffer.get());
    } else if (const auto* n = as<IfNode>(s); n && !n->else_body) {
      look_at(n->cond);
      walk(n->then_body, [&](const Stmt& x) {
        if (const auto* store = as<StoreNode>(x)) written_.insert(store->buffer.get());
      });
    } else {
      fits_ = false;
    }
  }

  /// What one condition says.
  void look_at(const Expr& cond) {
    std::optional<Expr> turn, before;
    visit_conjuncts(cond, [&](const Expr& part) {
      if (turn || (turn = named_by(part))) return;
      fits_ = fits_ && stands_still(part);
      before = before ? ir::select(*before, part, ir::bool_imm(false)) : part;
    });
    fits_ = fits_ && turn && (!turn_ || (!before && !before_ && ir::structural_equal(*turn, *turn_)));
    read_.push_back(cond);
    if (turn_) return;
    turn_ = turn;
    before_ = before;
  }
  /// What a condition asks for after it has named the turn; nothing if that is all.
  std::optional<Expr> rest_of(const Expr& cond) const {
    std::optional<Expr> rest;
    bool named = false;
    visit_conjuncts(cond, [&](const Expr& part) {
      if (named) rest = rest ? ir::select(*rest, part, ir::bool_imm(false)) : part;
      named = named || named_by(part);
    });
    return rest;
  }

  /// The body without the test for the turn.
  Stmt rewritten(const Stmt& s) const {
    if (const auto* n = as<IfNode>(s)) {
      const auto rest = rest_of(n->cond);
      return rest ? if_then(*rest, n->then_body, std::nullopt, n->origin) : n->then_body;
    }
    const auto* n = as<StoreNode>(s);
    if (!n)
      return map_children(
          s, [&](const Stmt& c) { return rewritten(c); }, [](const Expr& e) { return e; });
    const Update u = *update_of(*n);
    const auto rest = rest_of(u.choice->cond);
    const Expr value = rest ? ir::select(*rest, u.choice->if_true, u.choice->if_false) : u.choice->if_true;
    return store(n->buffer, n->indices, ir::binary(u.sum->op, u.sum->a, value), n->origin);
  }

  const ForNode& loop_;
  bool fits_ = true;
  std::optional<Expr> turn_, before_, none_;
  std::vector<Expr> read_;
  std::vector<const ir::VarNode*> inner_;
  std::unordered_set<const ir::BufferNode*> written_;
};

Stmt visit(const Stmt& s, arith::Analyzer& facts) {
  if (const auto* n = as<ForNode>(s)) bind_loop(facts, *n);
  const Stmt x = map_children(
      s, [&](const Stmt& c) { return visit(c, facts); }, [](const Expr& e) { return e; });
  const auto* n = as<ForNode>(x);
  if (!n) return x;
  const OneTurn one(*n);
  if (!one.turn()) return x;
  const Expr at = *one.turn(), inside = n->min <= at && at < n->min + n->extent;
  const Stmt turn = facts.prove(inside) ? one.body() : if_then(inside, one.body(), std::nullopt, n->origin);
  return one.before() ? if_then(*one.before(), turn, std::nullopt, n->origin) : turn;
}

}  // namespace

Func single_turns(const Func& f, const Target&) {
  Func out = f;
  arith::Analyzer facts;
  out.body = visit(f.body, facts);
  return out;
}

}  // namespace tw::tir
