// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/equal.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/base/hash.h"
#include "engine/ir/visit.h"

namespace tw::ir {

namespace {

bool same_identity(const void* a, const void* b, const Correspondence& map) {
  const auto it = map.left_to_right.find(a);
  return it == map.left_to_right.end() ? a == b : it->second == b;
}

bool same_real(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || (std::isnan(a) && std::isnan(b)); }

bool all_equal(const std::vector<Expr>& a, const std::vector<Expr>& b, Correspondence& map) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const Expr& x, const Expr& y) { return structural_equal(x, y, map); });
}

}  // namespace

bool structural_equal(const Expr& a, const Expr& b, Correspondence& map) {
  if (map.left_to_right.empty() && a.same_as(b)) return true;
  if (a->kind() != b->kind() || a->dtype != b->dtype) return false;
  const auto eq = [&](const Expr& x, const Expr& y) { return structural_equal(x, y, map); };
  return match(
      a, [&](const IntImmNode& n) { return n.value == as<IntImmNode>(b)->value; },
      [&](const FloatImmNode& n) { return same_real(n.value, as<FloatImmNode>(b)->value); }, [&](const VarNode& n) { return same_identity(&n, b.get(), map); },
      [&](const CastNode& n) { return eq(n.value, as<CastNode>(b)->value); }, [&](const NotNode& n) { return eq(n.value, as<NotNode>(b)->value); },
      [&](const BinaryNode& n) {
        const auto& m = *as<BinaryNode>(b);
        return n.op == m.op && eq(n.a, m.a) && eq(n.b, m.b);
      },
      [&](const SelectNode& n) {
        const auto& m = *as<SelectNode>(b);
        return eq(n.cond, m.cond) && eq(n.if_true, m.if_true) && eq(n.if_false, m.if_false);
      },
      [&](const LoadNode& n) {
        const auto& m = *as<LoadNode>(b);
        return same_identity(n.buffer.get(), m.buffer.get(), map) && all_equal(n.indices, m.indices, map);
      },
      [&](const RampNode& n) { return eq(n.base, as<RampNode>(b)->base) && eq(n.stride, as<RampNode>(b)->stride); },
      [&](const BroadcastNode& n) { return eq(n.value, as<BroadcastNode>(b)->value); },
      [&](const CallNode& n) { return n.function == as<CallNode>(b)->function && all_equal(n.args, as<CallNode>(b)->args, map); });
}

bool structural_equal(const Expr& a, const Expr& b) {
  Correspondence map;
  return structural_equal(a, b, map);
}

uint64_t structural_hash(const Expr& e) {
  const auto& t = e->dtype;
  uint64_t h = hash_combine(static_cast<uint64_t>(e->kind()), static_cast<uint64_t>(t.code) << 32 | static_cast<uint64_t>(t.bits) << 16 | t.lanes);
  const auto mix = [&](uint64_t v) { h = hash_combine(h, v); };
  match(
      e, [&](const IntImmNode& n) { mix(static_cast<uint64_t>(n.value)); },
      [&](const FloatImmNode& n) { mix(std::isnan(n.value) ? 1 : std::bit_cast<uint64_t>(n.value)); },
      [&](const VarNode& n) { mix(reinterpret_cast<uintptr_t>(&n)); }, [&](const BinaryNode& n) { mix(static_cast<uint64_t>(n.op)); },
      [&](const LoadNode& n) { mix(reinterpret_cast<uintptr_t>(n.buffer.get())); }, [&](const CallNode& n) { mix(static_cast<uint64_t>(n.function)); },
      [](const auto&) {});
  for_each_child(e, [&](const Expr& c) { mix(structural_hash(c)); });
  return h;
}

}  // namespace tw::ir
