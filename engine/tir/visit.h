// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/ir/visit.h"
#include "engine/tir/stmt.h"

namespace tw::tir {

template <class... Fs>
decltype(auto) match(const Stmt& s, Fs&&... fs) {
  ir::Overloaded<std::decay_t<Fs>...> f{std::forward<Fs>(fs)...};
  switch (s->kind()) {
#define X(type, name)  \
  case StmtKind::name: \
    return f(static_cast<const type&>(*s));
    TW_STMT_KINDS(X)
#undef X
  }
  TW_UNREACHABLE("statement kind");
}

/// Rebuilds `s` with child statements mapped by fs and direct expressions by fe; the same handle if nothing changed.
Stmt map_children(const Stmt& s, const std::function<Stmt(const Stmt&)>& fs, const std::function<Expr(const Expr&)>& fe);
/// Statements below and including s, parents first.
void walk(const Stmt& s, const std::function<void(const Stmt&)>& f);
/// Statements at and below s.
int count_statements(const Stmt& s);
/// Every expression that stands directly in a statement at or below s (roots only; use ir::walk for what is below them).
void walk_exprs(const Stmt& s, const std::function<void(const Expr&)>& f);
/// Whether evaluating the expression reads an array: then a store in between may change its value.
bool reads_memory(const Expr& e);
/// Whether it reads that array.
bool reads(const Expr& e, const ir::BufferNode* buffer);
/// Whether something stands at or below s that all threads of a block must come by: a barrier, a reduction or product by threads; or a wait, which counts.
bool has_barriers(const Stmt& s);
/// Whether the function has loops bound to blocks or threads.
bool has_launches(const Func& f);
/// Replaces free variables in all expressions of s.
Stmt substitute(const Stmt& s, const ir::VarMap& map);

}  // namespace tw::tir
