// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <unordered_map>

#include "engine/ir/expr.h"

namespace tw::ir {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

/// Calls the lambda for the node's type. A kind without a lambda is a compile error; `[](const auto&)` is the explicit rest.
template <class... Fs>
decltype(auto) match(const Expr& e, Fs&&... fs) {
  Overloaded<std::decay_t<Fs>...> f{std::forward<Fs>(fs)...};
  switch (e->kind()) {
#define X(type, name) \
  case ExprKind::name: return f(static_cast<const type&>(*e));
    TW_EXPR_KINDS(X)
#undef X
  }
  TW_UNREACHABLE("expression kind");
}

/// Rebuilds `e` with every direct child replaced by f(child); the same handle if nothing changed.
Expr map_children(const Expr& e, const std::function<Expr(const Expr&)>& f);
/// Calls f on every direct child.
void for_each_child(const Expr& e, const std::function<void(const Expr&)>& f);
/// Calls f on e and everything below it, parents first.
void walk(const Expr& e, const std::function<void(const Expr&)>& f);

using VarMap = std::unordered_map<const VarNode*, Expr>;
/// Replaces variables by expressions; the same handle if none occurs.
Expr substitute(const Expr& e, const VarMap& map);
bool uses_var(const Expr& e, const VarNode* var);

}  // namespace tw::ir
