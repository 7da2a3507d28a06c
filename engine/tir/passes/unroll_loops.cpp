// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/passes/unroll_loops.h"

#include "engine/tir/clone.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

/// Stores that one loop may become; more would only cost compile time and instruction cache.
constexpr int64_t kMaxUnrolled = 2048;

struct Size {
  int64_t stores = 0;
  bool binds = false;
};

Size size_of(const Stmt& s) {
  Size out;
  walk(s, [&](const Stmt& x) {
    out.stores += as<StoreNode>(x) != nullptr;
    out.binds = out.binds || as<ForNode>(x) || as<LetNode>(x) || as<AllocNode>(x);
  });
  return out;
}

/// Whether an expression of the body chooses between others by the loop's turn, as transforms by small matrices do.
bool chooses(const ForNode& n) {
  bool found = false;
  walk_exprs(n.body, [&](const Expr& root) {
    ir::walk(root, [&](const Expr& e) {
      const auto* sel = ir::as<ir::SelectNode>(e);
      const auto* test = sel ? ir::as<ir::BinaryNode>(sel->cond) : nullptr;
      found = found || (test && test->op == ir::BinaryOp::eq && ir::as_int(test->b) && ir::uses_var(test->a, n.var.get()));
    });
  });
  return found;
}

Stmt unroll(const Stmt& s, bool launches) {
  const Stmt x = map_children(
      s, [&](const Stmt& c) { return unroll(c, launches); }, [](const Expr& e) { return e; });
  const auto* n = as<ForNode>(x);
  if (!n || !is_unrolled(n->for_kind) || (launches && !chooses(*n))) return x;
  const auto extent = ir::as_int(n->extent);
  const Size size = size_of(n->body);
  if (!extent || *extent * size.stores > kMaxUnrolled) return launches ? x : make_for(n->var, n->min, n->extent, ForKind::serial, n->body, n->origin);
  std::vector<Stmt> copies;
  for (int64_t i = 0; i < *extent; ++i) {
    const ir::VarMap map{{n->var.get(), n->min + ir::index(i)}};
    copies.push_back(size.binds ? clone_with(n->body, map) : substitute(n->body, map));
  }
  return seq(std::move(copies));
}

}  // namespace

Func unroll_loops(const Func& f, const Target&) {
  Func out = f;
  out.body = unroll(f.body, has_launches(f));
  return out;
}

}  // namespace tw::tir
