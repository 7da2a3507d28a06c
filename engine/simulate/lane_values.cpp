// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/lane_values.h"

#include <algorithm>

#include "engine/arith/linear.h"
#include "engine/base/hash.h"
#include "engine/ir/visit.h"

namespace tw::simulate {

using ir::BinaryOp;
using ir::Expr;

namespace {

/// What is read from arrays is not known; it is spread over as many values.
constexpr uint64_t kUnknownBelow = 1024;

int64_t apply(BinaryOp op, int64_t a, int64_t b) {
  switch (op) {
    case BinaryOp::add:
      return a + b;
    case BinaryOp::sub:
      return a - b;
    case BinaryOp::mul:
      return a * b;
    case BinaryOp::div:
      return b == 0 ? 0 : a / b;
    case BinaryOp::floor_div:
      return b == 0 ? 0 : floor_div_int(a, b);
    case BinaryOp::floor_mod:
      return b == 0 ? 0 : floor_mod_int(a, b);
    case BinaryOp::min:
      return std::min(a, b);
    case BinaryOp::max:
      return std::max(a, b);
    case BinaryOp::eq:
      return a == b;
    case BinaryOp::ne:
      return a != b;
    case BinaryOp::lt:
      return a < b;
    case BinaryOp::le:
      return a <= b;
    case BinaryOp::and_:
      return a && b;
    case BinaryOp::or_:
      return a || b;
    case BinaryOp::bit_and:
      return a & b;
    case BinaryOp::bit_or:
      return a | b;
    case BinaryOp::bit_xor:
      return a ^ b;
    case BinaryOp::shl:
      return b < 0 || b > 62 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(a) << b);
    case BinaryOp::shr:
      return b < 0 || b > 62 ? 0 : a >> b;
  }
  return 0;
}

}  // namespace

Lanes LaneValues::of(const Expr& e) const {
  Lanes out{};
  ir::match(
      e, [&](const ir::IntImmNode& n) { out.fill(n.value); }, [&](const ir::FloatImmNode&) { out.fill(1); },
      [&](const ir::VarNode& v) {
        if (const auto it = vars.find(&v); it != vars.end()) out = it->second;
      },
      [&](const ir::CastNode& c) { out = of(c.value); },
      [&](const ir::NotNode& n) {
        out = of(n.value);
        for (int64_t& v : out) v = v == 0;
      },
      [&](const ir::BinaryNode& b) {
        if (b.a->dtype.is_float()) return out.fill(1);
        const Lanes x = of(b.a), y = of(b.b);
        for (size_t k = 0; k < x.size(); ++k) out[k] = apply(b.op, x[k], y[k]);
      },
      [&](const ir::SelectNode& s) {
        const Lanes c = of(s.cond), x = of(s.if_true), y = of(s.if_false);
        for (size_t k = 0; k < c.size(); ++k) out[k] = c[k] ? x[k] : y[k];
      },
      [&](const ir::LoadNode& l) {
        const Lanes at = l.indices.empty() ? Lanes{} : of(l.indices.back());
        for (size_t k = 0; k < at.size(); ++k)
          out[k] = static_cast<int64_t>(hash_combine(stable_hash(l.buffer->name), static_cast<uint64_t>(at[k])) % kUnknownBelow);
      },
      [&](const ir::RampNode& r) { out = of(r.base); }, [&](const ir::BroadcastNode& b) { out = of(b.value); }, [&](const ir::CallNode&) { out.fill(1); });
  return out;
}

}  // namespace tw::simulate
