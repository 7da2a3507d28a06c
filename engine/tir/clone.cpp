// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/clone.h"

#include <unordered_map>

#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

class Cloner {
 public:
  explicit Cloner(ir::VarMap vars) : vars_(std::move(vars)) {}

  Expr expr(const Expr& e) const {
    if (const auto* v = ir::as<ir::VarNode>(e)) {
      const auto it = vars_.find(v);
      return it == vars_.end() ? e : it->second;
    }
    const Expr x = ir::map_children(e, [&](const Expr& c) { return expr(c); });
    if (const auto* l = ir::as<ir::LoadNode>(x))
      if (const auto it = buffers_.find(l->buffer.get()); it != buffers_.end()) return ir::load(it->second, l->indices);
    return x;
  }

  Stmt stmt(const Stmt& s) {
    const auto fe = [&](const Expr& e) { return expr(e); };
    if (const auto* n = as<ForNode>(s)) {
      const Var v = make_var_like(n->var);
      return make_for(v, expr(n->min), expr(n->extent), n->for_kind, stmt(n->body), n->origin, n->auto_unroll);
    }
    if (const auto* n = as<LetNode>(s)) {
      const Expr value = expr(n->value);
      const Var v = make_var_like(n->var);
      return let(v, value, stmt(n->body), n->origin);
    }
    if (const auto* n = as<AllocNode>(s)) {
      const Buffer b = ir::make_buffer(n->buffer->name, n->buffer->dtype, n->buffer->shape, n->buffer->scope);
      buffers_.insert_or_assign(n->buffer.get(), b);
      return alloc(b, stmt(n->body), n->origin);
    }
    const Stmt out = map_children(
        s, [&](const Stmt& c) { return stmt(c); }, fe);
    if (const auto* st = as<StoreNode>(out))
      if (const auto it = buffers_.find(st->buffer.get()); it != buffers_.end()) return store(it->second, st->indices, st->value, st->origin);
    if (const auto* r = as<AllReduceNode>(out))
      if (const auto it = buffers_.find(r->buffer.get()); it != buffers_.end()) return all_reduce(it->second, r->indices, r->combine, r->thread, r->origin);
    return out;
  }

 private:
  Var make_var_like(const Var& old) {
    const Var v = ir::make_var(old->name, old->dtype);
    vars_.insert_or_assign(old.get(), ir::to_expr(v));
    return v;
  }

  ir::VarMap vars_;
  std::unordered_map<const ir::BufferNode*, Buffer> buffers_;
};

}  // namespace

Stmt clone_with(const Stmt& s, const ir::VarMap& map) { return Cloner(map).stmt(s); }

Stmt unshared(const Stmt& s) {
  return match(
      s, [](const ForNode& n) { return make_for(n.var, n.min, n.extent, n.for_kind, unshared(n.body), n.origin, n.auto_unroll); },
      [](const StoreNode& n) { return store(n.buffer, n.indices, n.value, n.origin); },
      [](const AllocNode& n) { return alloc(n.buffer, unshared(n.body), n.origin); },
      [](const LetNode& n) { return let(n.var, n.value, unshared(n.body), n.origin); },
      [](const IfNode& n) {
        return Stmt(new IfNode(n.cond, unshared(n.then_body), n.else_body ? std::optional(unshared(*n.else_body)) : std::nullopt, n.origin));
      },
      [](const SeqNode& n) {
        std::vector<Stmt> stmts;
        for (const Stmt& c : n.stmts) stmts.push_back(unshared(c));
        return Stmt(new SeqNode(std::move(stmts), n.origin));
      },
      [](const SyncNode& n) { return make_sync(n.origin); },
      [](const AllReduceNode& n) { return all_reduce(n.buffer, n.indices, n.combine, n.thread, n.origin); },
      [](const AsyncNode& n) { return make_async(unshared(n.body), n.origin); }, [](const WaitNode& n) { return make_wait(n.pending, n.origin); },
      [](const MmaNode& n) { return make_mma(n.sums, n.a, n.b, n.rows, n.columns, n.depth, n.origin); });
}

}  // namespace tw::tir
