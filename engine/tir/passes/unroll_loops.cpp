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

Stmt unroll(const Stmt& s) {
  const Stmt x = map_children(s, unroll, [](const Expr& e) { return e; });
  const auto* n = as<ForNode>(x);
  if (!n || n->for_kind != ForKind::unrolled) return x;
  const auto extent = ir::as_int(n->extent);
  const Size size = size_of(n->body);
  if (!extent || *extent * size.stores > kMaxUnrolled) return make_for(n->var, n->min, n->extent, ForKind::serial, n->body, n->origin);
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
  out.body = unroll(f.body);
  return out;
}

}  // namespace tw::tir
