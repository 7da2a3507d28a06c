// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/visit.h"

namespace tw::tir {

Stmt map_children(const Stmt& s, const std::function<Stmt(const Stmt&)>& fs, const std::function<Expr(const Expr&)>& fe) {
  return match(
      s,
      [&](const ForNode& n) {
        Expr mn = fe(n.min), ext = fe(n.extent);
        Stmt body = fs(n.body);
        if (mn.same_as(n.min) && ext.same_as(n.extent) && body.same_as(n.body)) return s;
        return make_for(n.var, mn, ext, n.for_kind, body, n.origin, n.auto_unroll);
      },
      [&](const StoreNode& n) {
        bool same = true;
        std::vector<Expr> idx;
        idx.reserve(n.indices.size());
        for (const Expr& i : n.indices) {
          idx.push_back(fe(i));
          same = same && idx.back().same_as(i);
        }
        Expr v = fe(n.value);
        return same && v.same_as(n.value) ? s : store(n.buffer, std::move(idx), v, n.origin);
      },
      [&](const AllocNode& n) {
        Stmt body = fs(n.body);
        return body.same_as(n.body) ? s : alloc(n.buffer, body, n.origin);
      },
      [&](const LetNode& n) {
        Expr v = fe(n.value);
        Stmt body = fs(n.body);
        return v.same_as(n.value) && body.same_as(n.body) ? s : let(n.var, v, body, n.origin);
      },
      [&](const IfNode& n) {
        Expr c = fe(n.cond);
        Stmt t = fs(n.then_body);
        std::optional<Stmt> e;
        if (n.else_body) e = fs(*n.else_body);
        if (c.same_as(n.cond) && t.same_as(n.then_body) && (!e || e->same_as(*n.else_body))) return s;
        return if_then(c, t, e, n.origin);
      },
      [&](const SeqNode& n) {
        bool same = true;
        std::vector<Stmt> out;
        out.reserve(n.stmts.size());
        for (const Stmt& c : n.stmts) {
          out.push_back(fs(c));
          same = same && out.back().same_as(c);
        }
        return same ? s : seq(std::move(out));
      },
      [&](const SyncNode&) { return s; },
      [&](const AllReduceNode& n) {
        bool same = true;
        std::vector<Expr> idx;
        for (const Expr& i : n.indices) {
          idx.push_back(fe(i));
          same = same && idx.back().same_as(i);
        }
        return same ? s : all_reduce(n.buffer, std::move(idx), n.combine, n.thread, n.origin);
      },
      [&](const AsyncNode& n) {
        Stmt body = fs(n.body);
        return body.same_as(n.body) ? s : make_async(body, n.origin);
      },
      [&](const WaitNode&) { return s; },
      [&](const MmaNode& n) {
        Expr sums = fe(n.sums), a = fe(n.a.first), b = fe(n.b.first);
        if (sums.same_as(n.sums) && a.same_as(n.a.first) && b.same_as(n.b.first)) return s;
        return make_mma(sums, {a, n.a.stride, n.a.by_depth}, {b, n.b.stride, n.b.by_depth}, n.rows, n.columns, n.depth, n.origin);
      });
}

void walk(const Stmt& s, const std::function<void(const Stmt&)>& f) {
  f(s);
  match(
      s, [&](const ForNode& n) { walk(n.body, f); }, [](const StoreNode&) {}, [&](const AllocNode& n) { walk(n.body, f); },
      [&](const LetNode& n) { walk(n.body, f); },
      [&](const IfNode& n) {
        walk(n.then_body, f);
        if (n.else_body) walk(*n.else_body, f);
      },
      [&](const SeqNode& n) {
        for (const Stmt& c : n.stmts) walk(c, f);
      },
      [](const SyncNode&) {}, [](const AllReduceNode&) {}, [&](const AsyncNode& n) { walk(n.body, f); }, [](const WaitNode&) {}, [](const MmaNode&) {});
}

int count_statements(const Stmt& s) {
  int n = 0;
  walk(s, [&](const Stmt&) { ++n; });
  return n;
}

void walk_exprs(const Stmt& s, const std::function<void(const Expr&)>& f) {
  walk(s, [&](const Stmt& x) {
    match(
        x,
        [&](const ForNode& n) {
          f(n.min);
          f(n.extent);
        },
        [&](const StoreNode& n) {
          for (const Expr& i : n.indices) f(i);
          f(n.value);
        },
        [](const AllocNode&) {}, [&](const LetNode& n) { f(n.value); }, [&](const IfNode& n) { f(n.cond); }, [](const SeqNode&) {}, [](const SyncNode&) {},
        [&](const AllReduceNode& n) {
          for (const Expr& i : n.indices) f(i);
        },
        [](const AsyncNode&) {}, [](const WaitNode&) {},
        [&](const MmaNode& n) {
          f(n.sums);
          f(n.a.first);
          f(n.b.first);
        });
  });
}

bool reads_memory(const Expr& e) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) { found = found || ir::as<ir::LoadNode>(x); });
  return found;
}

bool reads(const Expr& e, const ir::BufferNode* buffer) {
  bool found = false;
  ir::walk(e, [&](const Expr& x) {
    const auto* l = ir::as<ir::LoadNode>(x);
    found = found || (l && l->buffer.get() == buffer);
  });
  return found;
}

bool has_barriers(const Stmt& s) {
  bool found = false;
  walk(s, [&](const Stmt& x) { found = found || as<SyncNode>(x) || as<AllReduceNode>(x) || as<WaitNode>(x) || as<MmaNode>(x); });
  return found;
}

bool has_launches(const Func& f) {
  bool found = false;
  walk(f.body, [&](const Stmt& s) {
    const auto* n = as<ForNode>(s);
    found = found || (n && (is_block(n->for_kind) || is_thread(n->for_kind)));
  });
  return found;
}

Stmt substitute(const Stmt& s, const ir::VarMap& map) {
  return map_children(
      s, [&](const Stmt& c) { return substitute(c, map); }, [&](const Expr& e) { return ir::substitute(e, map); });
}

}  // namespace tw::tir
