// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/inject_virtual_threads.h"

#include <unordered_map>
#include <unordered_set>

#include "engine/tir/clone.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

/// Rewrites the body of one loop over virtual threads.
class VirtualThread {
 public:
  explicit VirtualThread(const ForNode& loop) : loop_(loop) {
    vars_.insert(loop.var.get());
    walk(loop.body, [&](const Stmt& s) {
      if (const auto* a = as<AllocNode>(s); a && a->buffer->scope == ir::Scope::local) own_.insert(a->buffer.get());
    });
    for (size_t before = 0; before != vars_.size() + spread_.size();) {
      before = vars_.size() + spread_.size();
      find_dependent(loop.body, false);
    }
  }

  Stmt run() { return rewrite(loop_.body); }

 private:
  bool depends(const Expr& e) const {
    bool found = false;
    ir::walk(e, [&](const Expr& x) {
      const auto* v = ir::as<ir::VarNode>(x);
      const auto* l = ir::as<ir::LoadNode>(x);
      found = found || (v && vars_.contains(v)) || (l && spread_.contains(l->buffer.get()));
    });
    return found;
  }
  bool depends(const std::vector<Expr>& list) const {
    return std::any_of(list.begin(), list.end(), [&](const Expr& e) { return depends(e); });
  }

  /// Adds the arrays and variables that hold what depends on the virtual thread; `inside`: under a condition that does.
  void find_dependent(const Stmt& s, bool inside) {
    match(
        s,
        [&](const ForNode& n) {
          const bool bounds = depends(n.min) || depends(n.extent);
          if (bounds) vars_.insert(n.var.get());
          find_dependent(n.body, inside || bounds);
        },
        [&](const StoreNode& n) {
          if (own_.contains(n.buffer.get()) && (inside || depends(n.indices) || depends(n.value))) spread_.insert(n.buffer.get());
        },
        [&](const AllocNode& n) { find_dependent(n.body, inside); },
        [&](const LetNode& n) {
          if (depends(n.value)) vars_.insert(n.var.get());
          find_dependent(n.body, inside);
        },
        [&](const IfNode& n) {
          const bool here = inside || depends(n.cond);
          find_dependent(n.then_body, here);
          if (n.else_body) find_dependent(*n.else_body, here);
        },
        [&](const SeqNode& n) {
          for (const Stmt& c : n.stmts) find_dependent(c, inside);
        },
        [](const SyncNode&) {}, [](const AllReduceNode&) {}, [&](const AsyncNode& n) { find_dependent(n.body, inside); }, [](const WaitNode&) {},
        [&](const MmaNode& n) {
          const ir::BufferNode* sums = ir::as<ir::LoadNode>(n.sums)->buffer.get();
          if (own_.contains(sums) && (inside || depends(n.a.first) || depends(n.b.first))) spread_.insert(sums);
        });
  }

  bool touches(const Stmt& s) const {
    bool found = false;
    walk_exprs(s, [&](const Expr& e) { found = found || depends(e); });
    walk(s, [&](const Stmt& x) {
      const auto* st = as<StoreNode>(x);
      const auto* r = as<AllReduceNode>(x);
      found = found || (st && spread_.contains(st->buffer.get())) || (r && spread_.contains(r->buffer.get()));
    });
    return found;
  }

  Stmt rewrite(const Stmt& s) {
    if (const auto* n = as<AllocNode>(s); n && spread_.contains(n->buffer.get())) {
      std::vector<int64_t> shape = n->buffer->shape;
      shape.insert(shape.begin(), *ir::as_int(loop_.extent));
      const Buffer wide = ir::make_buffer(n->buffer->name, n->buffer->dtype, std::move(shape), n->buffer->scope);
      wide_.emplace(n->buffer.get(), wide);
      return alloc(wide, rewrite(n->body), n->origin);
    }
    if (!touches(s)) return s;
    const auto same = [](const Expr& e) { return e; };
    const auto inner = [&](const Stmt& c) { return rewrite(c); };
    if (as<SeqNode>(s) || as<AllocNode>(s) || as<AsyncNode>(s)) return map_children(s, inner, same);
    if (const auto* n = as<ForNode>(s); n && n->for_kind != ForKind::vectorized && !depends(n->min) && !depends(n->extent)) return map_children(s, inner, same);
    if (const auto* n = as<IfNode>(s); n && !depends(n->cond)) return map_children(s, inner, same);
    if (const auto* n = as<LetNode>(s); n && !depends(n->value)) return map_children(s, inner, same);
    return repeated(s);
  }

  Stmt repeated(const Stmt& s) {
    const Var v = ir::make_var(loop_.var->name);
    Stmt body = with_slots(s, ir::to_expr(v));
    body = clone_with(body, {{loop_.var.get(), ir::to_expr(v)}});
    return make_for(v, loop_.min, loop_.extent, ForKind::unrolled, std::move(body), loop_.origin);
  }

  std::vector<Expr> slot_index(const Buffer& old, std::vector<Expr> indices, const Expr& v) const {
    if (indices.size() == old->shape.size())
      indices.insert(indices.begin(), v);
    else
      indices[0] = v * old->num_elements() + indices[0];
    return indices;
  }

  Expr with_slots(const Expr& e, const Expr& v) const {
    const Expr x = ir::map_children(e, [&](const Expr& c) { return with_slots(c, v); });
    const auto* l = ir::as<ir::LoadNode>(x);
    const auto at = l ? wide_.find(l->buffer.get()) : wide_.end();
    return at == wide_.end() ? x : ir::load(at->second, slot_index(l->buffer, l->indices, v));
  }
  Stmt with_slots(const Stmt& s, const Expr& v) const {
    const Stmt x = map_children(
        s, [&](const Stmt& c) { return with_slots(c, v); }, [&](const Expr& e) { return with_slots(e, v); });
    if (const auto* st = as<StoreNode>(x))
      if (const auto at = wide_.find(st->buffer.get()); at != wide_.end())
        return store(at->second, slot_index(st->buffer, st->indices, v), st->value, st->origin);
    if (const auto* r = as<AllReduceNode>(x))
      if (const auto at = wide_.find(r->buffer.get()); at != wide_.end())
        return all_reduce(at->second, slot_index(r->buffer, r->indices, v), r->combine, r->thread, r->origin);
    return x;
  }

  const ForNode& loop_;
  std::unordered_set<const ir::VarNode*> vars_;       ///< the virtual thread and what is derived from it
  std::unordered_set<const ir::BufferNode*> own_;     ///< local arrays of the body
  std::unordered_set<const ir::BufferNode*> spread_;  ///< those of which every virtual thread has one
  std::unordered_map<const ir::BufferNode*, Buffer> wide_;
};

Stmt inject(const Stmt& s, bool in_launch) {
  const auto* n = as<ForNode>(s);
  const bool inside = in_launch || (n && is_bound(n->for_kind) && n->for_kind != ForKind::vthread);
  const Stmt x = map_children(
      s, [&](const Stmt& c) { return inject(c, inside); }, [](const Expr& e) { return e; });
  const auto* loop = as<ForNode>(x);
  return inside && loop && loop->for_kind == ForKind::vthread ? VirtualThread(*loop).run() : x;
}

}  // namespace

Func inject_virtual_threads(const Func& f, const Target&) {
  Func out = f;
  out.body = inject(f.body, false);
  return out;
}

}  // namespace tw::tir
