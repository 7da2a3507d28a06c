// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/equal.h"

#include <algorithm>

#include "engine/ir/equal.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

/// Compares statements while it pairs what they bind.
class Comparison {
 public:
  bool bind(const Buffer& a, const Buffer& b) {
    map_.left_to_right[a.get()] = b.get();
    return a->dtype == b->dtype && a->shape == b->shape && a->scope == b->scope;
  }
  bool bind(const Var& a, const Var& b) {
    map_.left_to_right[a.get()] = b.get();
    return a->dtype == b->dtype;
  }
  bool equal(const Expr& a, const Expr& b) { return ir::structural_equal(a, b, map_); }

  bool equal(const Stmt& a, const Stmt& b) {
    if (a->kind() != b->kind()) return false;
    return match(
        a,
        [&](const ForNode& n) {
          const auto& m = *as<ForNode>(b);
          return n.for_kind == m.for_kind && n.auto_unroll == m.auto_unroll && equal(n.min, m.min) && equal(n.extent, m.extent) && bind(n.var, m.var) && equal(n.body, m.body);
        },
        [&](const StoreNode& n) {
          const auto& m = *as<StoreNode>(b);
          return equal(ir::load(n.buffer, n.indices), ir::load(m.buffer, m.indices)) && equal(n.value, m.value);
        },
        [&](const AllocNode& n) { return bind(n.buffer, as<AllocNode>(b)->buffer) && equal(n.body, as<AllocNode>(b)->body); },
        [&](const LetNode& n) {
          const auto& m = *as<LetNode>(b);
          return equal(n.value, m.value) && bind(n.var, m.var) && equal(n.body, m.body);
        },
        [&](const IfNode& n) {
          const auto& m = *as<IfNode>(b);
          if (n.else_body.has_value() != m.else_body.has_value()) return false;
          return equal(n.cond, m.cond) && equal(n.then_body, m.then_body) && (!n.else_body || equal(*n.else_body, *m.else_body));
        },
        [&](const SeqNode& n) {
          const auto& m = as<SeqNode>(b)->stmts;
          return std::equal(n.stmts.begin(), n.stmts.end(), m.begin(), m.end(), [&](const Stmt& x, const Stmt& y) { return equal(x, y); });
        },
        [](const SyncNode&) { return true; },
        [&](const AllReduceNode& n) {
          const auto& m = *as<AllReduceNode>(b);
          return n.combine == m.combine && n.thread == m.thread && equal(ir::load(n.buffer, n.indices), ir::load(m.buffer, m.indices));
        },
        [&](const AsyncNode& n) { return equal(n.body, as<AsyncNode>(b)->body); }, [&](const WaitNode& n) { return n.pending == as<WaitNode>(b)->pending; },
        [&](const MmaNode& n) {
          const auto& m = *as<MmaNode>(b);
          const auto same = [&](const MmaOperand& x, const MmaOperand& y) {
            return x.stride == y.stride && x.by_depth == y.by_depth && equal(x.first, y.first);
          };
          return n.rows == m.rows && n.columns == m.columns && n.depth == m.depth && equal(n.sums, m.sums) && same(n.a, m.a) && same(n.b, m.b);
        });
  }

 private:
  ir::Correspondence map_;
};

}  // namespace

bool structural_equal(const Func& a, const Func& b) {
  if (a.params.size() != b.params.size() || a.num_outputs != b.num_outputs) return false;
  Comparison c;
  for (size_t i = 0; i < a.params.size(); ++i)
    if (!c.bind(a.params[i], b.params[i])) return false;
  return c.equal(a.body, b.body);
}

}  // namespace tw::tir
