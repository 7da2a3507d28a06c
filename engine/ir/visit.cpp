// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/visit.h"

namespace tw::ir {

Expr map_children(const Expr& e, const std::function<Expr(const Expr&)>& f) {
  return match(
      e, [&](const IntImmNode&) { return e; }, [&](const FloatImmNode&) { return e; }, [&](const VarNode&) { return e; },
      [&](const CastNode& n) {
        Expr v = f(n.value);
        return v.same_as(n.value) ? e : cast(n.dtype.with_lanes(v->dtype.lanes), v);
      },
      [&](const NotNode& n) {
        Expr v = f(n.value);
        return v.same_as(n.value) ? e : logical_not(v);
      },
      [&](const BinaryNode& n) {
        Expr a = f(n.a), b = f(n.b);
        return a.same_as(n.a) && b.same_as(n.b) ? e : binary(n.op, a, b);
      },
      [&](const SelectNode& n) {
        Expr c = f(n.cond), t = f(n.if_true), x = f(n.if_false);
        return c.same_as(n.cond) && t.same_as(n.if_true) && x.same_as(n.if_false) ? e : select(c, t, x);
      },
      [&](const LoadNode& n) {
        std::vector<Expr> idx;
        idx.reserve(n.indices.size());
        bool same = true;
        for (const Expr& i : n.indices) {
          idx.push_back(f(i));
          same = same && idx.back().same_as(i);
        }
        return same ? e : load(n.buffer, std::move(idx));
      },
      [&](const RampNode& n) {
        Expr b = f(n.base), s = f(n.stride);
        return b.same_as(n.base) && s.same_as(n.stride) ? e : ramp(b, s, n.dtype.lanes);
      },
      [&](const BroadcastNode& n) {
        Expr v = f(n.value);
        return v.same_as(n.value) ? e : broadcast(v, n.dtype.lanes);
      },
      [&](const CallNode& n) {
        std::vector<Expr> args;
        args.reserve(n.args.size());
        bool same = true;
        for (const Expr& a : n.args) {
          args.push_back(f(a));
          same = same && args.back().same_as(a);
        }
        return same ? e : call(n.function, std::move(args));
      });
}

void for_each_child(const Expr& e, const std::function<void(const Expr&)>& f) {
  match(
      e, [](const IntImmNode&) {}, [](const FloatImmNode&) {}, [](const VarNode&) {}, [&](const CastNode& n) { f(n.value); },
      [&](const NotNode& n) { f(n.value); },
      [&](const BinaryNode& n) {
        f(n.a);
        f(n.b);
      },
      [&](const SelectNode& n) {
        f(n.cond);
        f(n.if_true);
        f(n.if_false);
      },
      [&](const LoadNode& n) {
        for (const Expr& i : n.indices) f(i);
      },
      [&](const RampNode& n) {
        f(n.base);
        f(n.stride);
      },
      [&](const BroadcastNode& n) { f(n.value); },
      [&](const CallNode& n) {
        for (const Expr& a : n.args) f(a);
      });
}

void walk(const Expr& e, const std::function<void(const Expr&)>& f) {
  f(e);
  for_each_child(e, [&](const Expr& c) { walk(c, f); });
}

Expr substitute(const Expr& e, const VarMap& map) {
  if (const auto* v = as<VarNode>(e)) {
    const auto it = map.find(v);
    return it == map.end() ? e : it->second;
  }
  // A choice that the map decides leaves one branch; the others need not be copied.
  if (const auto* s = as<SelectNode>(e)) {
    const Expr cond = substitute(s->cond, map);
    if (const auto chosen = as_int(cond)) return substitute(*chosen ? s->if_true : s->if_false, map);
    return select(cond, substitute(s->if_true, map), substitute(s->if_false, map));
  }
  return map_children(e, [&](const Expr& c) { return substitute(c, map); });
}

bool uses_var(const Expr& e, const VarNode* var) {
  bool found = false;
  walk(e, [&](const Expr& x) { found = found || x.get() == var; });
  return found;
}

}  // namespace tw::ir
