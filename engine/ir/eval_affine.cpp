// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/eval_affine.h"

#include <algorithm>

#include "engine/ir/visit.h"

namespace tw::ir {

namespace {

/// Factors and bounds stay below this, so that sums of products cannot overflow.
constexpr int64_t kLarge = int64_t{1} << 50;
bool is_small(int64_t v) { return v < kLarge && v > -kLarge; }

std::optional<int64_t> product(int64_t a, int64_t b) {
  int64_t p = 0;
  return __builtin_mul_overflow(a, b, &p) || !is_small(p) ? std::nullopt : std::optional(p);
}

EvalAffine constant_form(int64_t v) { return {.offset = v, .lane_step = 0, .terms = {}, .lo = v, .hi = v}; }

bool is_constant(const EvalAffine& a) { return a.terms.empty() && a.lane_step == 0; }

/// The sum of products of a known number of lanes.
std::optional<EvalAffine> lanes_form(const RampNode& n, const EvalRanges& r) {
  const auto base = affine_form(n.base, r), stride = affine_form(n.stride, r);
  if (!base || !stride || !is_constant(*stride) || base->lane_step != 0) return std::nullopt;
  const auto last = product(stride->offset, n.dtype.lanes - 1);
  if (!last) return std::nullopt;
  EvalAffine lanes{.offset = 0, .lane_step = stride->offset, .terms = {}, .lo = std::min<int64_t>(*last, 0), .hi = std::max<int64_t>(*last, 0)};
  return affine_sum(*base, 1, lanes);
}

std::optional<EvalAffine> binary_form(const BinaryNode& n, const EvalRanges& r) {
  if (n.op != BinaryOp::add && n.op != BinaryOp::sub && n.op != BinaryOp::mul) return std::nullopt;
  const auto a = affine_form(n.a, r), b = affine_form(n.b, r);
  if (!a || !b) return std::nullopt;
  if (n.op == BinaryOp::add) return affine_sum(*a, 1, *b);
  if (n.op == BinaryOp::sub) return affine_sum(*b, -1, *a);
  if (is_constant(*b)) return affine_sum(*a, b->offset, constant_form(0));
  if (is_constant(*a)) return affine_sum(*b, a->offset, constant_form(0));
  return std::nullopt;
}

}  // namespace

std::optional<EvalAffine> affine_sum(const EvalAffine& a, int64_t scale, const EvalAffine& b) {
  EvalAffine out = b;
  const auto offset = product(a.offset, scale), lane_step = product(a.lane_step, scale), lo = product(a.lo, scale), hi = product(a.hi, scale);
  if (!offset || !lane_step || !lo || !hi) return std::nullopt;
  out.offset += *offset;
  out.lane_step += *lane_step;
  out.lo += std::min(*lo, *hi);
  out.hi += std::max(*lo, *hi);
  for (const auto& [slot, coefficient] : a.terms) {
    const auto c = product(coefficient, scale);
    if (!c) return std::nullopt;
    const auto it = std::find_if(out.terms.begin(), out.terms.end(), [s = slot](const auto& t) { return t.first == s; });
    if (it == out.terms.end())
      out.terms.emplace_back(slot, *c);
    else
      it->second += *c;
  }
  const bool small = is_small(out.offset) && is_small(out.lane_step) && is_small(out.lo) && is_small(out.hi) &&
                     std::all_of(out.terms.begin(), out.terms.end(), [](const auto& t) { return is_small(t.second); });
  return small ? std::optional(out) : std::nullopt;
}

std::optional<EvalAffine> affine_form(const Expr& e, const EvalRanges& r) {
  if (e->dtype.element() != kIndex) return std::nullopt;
  if (const auto* n = as<IntImmNode>(e)) return is_small(n->value) ? std::optional(constant_form(n->value)) : std::nullopt;
  if (const auto* n = as<BinaryNode>(e)) return binary_form(*n, r);
  if (const auto* n = as<RampNode>(e)) return lanes_form(*n, r);
  if (const auto* n = as<BroadcastNode>(e)) return affine_form(n->value, r);
  const auto* v = as<VarNode>(e);
  const auto slot = v ? r.slots.find(v) : r.slots.end();
  if (slot == r.slots.end()) return std::nullopt;
  const auto range = r.ranges.find(slot->second);
  if (range == r.ranges.end() || !is_small(range->second.first) || !is_small(range->second.second)) return std::nullopt;
  return EvalAffine{.offset = 0, .lane_step = 0, .terms = {{slot->second, 1}}, .lo = range->second.first, .hi = range->second.second};
}

}  // namespace tw::ir
