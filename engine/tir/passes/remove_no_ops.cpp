// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/remove_no_ops.h"

#include <algorithm>

#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

bool uses_buffer(const Stmt& s, const ir::BufferNode* b) {
  bool used = false;
  walk(s, [&](const Stmt& x) {
    const auto* st = as<StoreNode>(x);
    const auto* reduced = as<AllReduceNode>(x);
    used = used || (st && st->buffer.get() == b) || (reduced && reduced->buffer.get() == b);
  });
  walk_exprs(s, [&](const Expr& root) {
    ir::walk(root, [&](const Expr& e) {
      const auto* l = ir::as<ir::LoadNode>(e);
      used = used || (l && l->buffer.get() == b);
    });
  });
  return used;
}

Stmt clean_branch(const Stmt& s, const IfNode& n) {
  const bool no_else = !n.else_body || is_nop(*n.else_body);
  if (is_nop(n.then_body)) return no_else ? nop() : if_then(ir::logical_not(n.cond), *n.else_body, std::nullopt, n.origin);
  return n.else_body && no_else ? if_then(n.cond, n.then_body, std::nullopt, n.origin) : s;
}

Stmt clean(const Stmt& s) {
  const Stmt x = map_children(s, clean, [](const Expr& e) { return e; });
  if (const auto* n = as<ForNode>(x)) {
    const auto extent = ir::as_int(n->extent);
    return is_nop(n->body) || (extent && *extent <= 0) ? nop() : x;
  }
  if (const auto* n = as<LetNode>(x)) return is_nop(n->body) ? nop() : x;
  if (const auto* n = as<AllocNode>(x)) return is_nop(n->body) ? nop() : uses_buffer(n->body, n->buffer.get()) ? x : n->body;
  if (const auto* n = as<IfNode>(x)) return clean_branch(x, *n);
  if (const auto* n = as<SeqNode>(x)) {
    if (std::none_of(n->stmts.begin(), n->stmts.end(), is_nop)) return x;
    std::vector<Stmt> kept;
    for (const Stmt& c : n->stmts)
      if (!is_nop(c)) kept.push_back(c);
    return seq(std::move(kept));
  }
  return x;
}

}  // namespace

Func remove_no_ops(const Func& f, const Target&) {
  Func out = f;
  out.body = clean(f.body);
  return out;
}

}  // namespace tw::tir
