// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/index.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/base/floor_div.h"
#include "engine/base/text.h"
#include "engine/ir/equal.h"
#include "engine/ir/visit.h"

namespace tw::codegen {

using ir::BinaryOp;
using ir::Expr;

namespace {

std::optional<Interval> checked(__int128 lo, __int128 hi) {
  constexpr __int128 kLimit = __int128{1} << 62;
  if (lo < -kLimit || hi > kLimit) return std::nullopt;
  return Interval{static_cast<int64_t>(lo), static_cast<int64_t>(hi)};
}

/// Adds factor * e to the sum.
void add_linear(LinearIndex& sum, const Expr& e, int64_t factor) {
  if (const auto v = ir::as_int(e)) {
    sum.constant += factor * *v;
    return;
  }
  if (const auto* n = ir::as<ir::BinaryNode>(e)) {
    if (n->op == BinaryOp::add || n->op == BinaryOp::sub) {
      add_linear(sum, n->a, factor);
      return add_linear(sum, n->b, n->op == BinaryOp::add ? factor : -factor);
    }
    if (n->op == BinaryOp::mul) {
      if (const auto v = ir::as_int(n->b)) return add_linear(sum, n->a, factor * *v);
      if (const auto v = ir::as_int(n->a)) return add_linear(sum, n->b, factor * *v);
    }
  }
  for (LinearIndex::Term& t : sum.terms) {
    if (!t.atom.same_as(e)) continue;
    t.coefficient += factor;
    return;
  }
  sum.terms.push_back({e, factor});
}

std::optional<Interval> product(Interval a, Interval b) {
  const __int128 p[] = {__int128{a.lo} * b.lo, __int128{a.lo} * b.hi, __int128{a.hi} * b.lo, __int128{a.hi} * b.hi};
  return checked(*std::min_element(p, p + 4), *std::max_element(p, p + 4));
}

std::optional<Interval> binary_interval(const ir::BinaryNode& n, const Ranges& ranges) {
  const auto a = interval_of(n.a, ranges), b = interval_of(n.b, ranges);
  // Some results are bounded by one side alone.
  if (n.op == BinaryOp::floor_mod && b && b->lo > 0) {
    if (a && a->lo >= 0 && a->hi < b->lo) return a;
    return Interval{0, b->hi - 1};
  }
  if (!a || !b) return std::nullopt;
  switch (n.op) {
    case BinaryOp::add:
      return checked(__int128{a->lo} + b->lo, __int128{a->hi} + b->hi);
    case BinaryOp::sub:
      return checked(__int128{a->lo} - b->hi, __int128{a->hi} - b->lo);
    case BinaryOp::mul:
      return product(*a, *b);
    case BinaryOp::min:
      return Interval{std::min(a->lo, b->lo), std::min(a->hi, b->hi)};
    case BinaryOp::max:
      return Interval{std::max(a->lo, b->lo), std::max(a->hi, b->hi)};
    case BinaryOp::floor_div:
      if (b->lo <= 0) return std::nullopt;
      return Interval{std::min(floor_div_int(a->lo, b->lo), floor_div_int(a->lo, b->hi)), std::max(floor_div_int(a->hi, b->lo), floor_div_int(a->hi, b->hi))};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Interval> interval_of(const Expr& e, const Ranges& ranges) {
  using R = std::optional<Interval>;
  if (e->dtype.element() != ir::kIndex) return std::nullopt;
  return ir::match(
      e,
      [](const ir::IntImmNode& n) -> R {
        return Interval{n.value, n.value};
      },
      [&](const ir::VarNode& n) -> R {
        const auto it = ranges.find(&n);
        return it == ranges.end() ? R() : R(it->second);
      },
      [&](const ir::BinaryNode& n) -> R { return binary_interval(n, ranges); },
      [&](const ir::SelectNode& n) -> R {
        const auto a = interval_of(n.if_true, ranges), b = interval_of(n.if_false, ranges);
        if (!a || !b) return std::nullopt;
        return Interval{std::min(a->lo, b->lo), std::max(a->hi, b->hi)};
      },
      [&](const ir::BroadcastNode& n) -> R { return interval_of(n.value, ranges); },
      [&](const ir::RampNode& n) -> R {
        const auto base = interval_of(n.base, ranges), stride = interval_of(n.stride, ranges);
        if (!base || !stride) return std::nullopt;
        const auto span = product(*stride, {0, n.dtype.lanes - 1});
        if (!span) return std::nullopt;
        return checked(__int128{base->lo} + span->lo, __int128{base->hi} + span->hi);
      },
      [](const auto&) -> R { return std::nullopt; });
}

bool fits_half(const Expr& e) {
  if (const auto* cast = ir::as<ir::CastNode>(e)) return cast->value->dtype.element() == kInt32;
  if (const auto* same = ir::as<ir::BroadcastNode>(e)) return fits_half(same->value);
  if (const auto v = ir::as_int(e)) return *v >= std::numeric_limits<int32_t>::min() && *v <= std::numeric_limits<int32_t>::max();
  if (const auto* s = ir::as<ir::SelectNode>(e)) {
    if (fits_half(s->if_true) && fits_half(s->if_false)) return true;
    // What counts from the end where it is negative: x < 0 ? x + n : x.
    const auto *less = ir::as<ir::BinaryNode>(s->cond), *sum = ir::as<ir::BinaryNode>(s->if_true);
    const auto constant = [](const Expr& c) {
      const auto* same = ir::as<ir::BroadcastNode>(c);
      return ir::as_int(same ? same->value : c);
    };
    return less && less->op == BinaryOp::lt && constant(less->b) == 0 && sum && sum->op == BinaryOp::add && ir::structural_equal(less->a, sum->a) &&
           constant(sum->b).value_or(-1) >= 0 && fits_half(sum->a) && fits_half(sum->b) && fits_half(s->if_false);
  }
  const auto* n = ir::as<ir::BinaryNode>(e);
  return n && (n->op == BinaryOp::min || n->op == BinaryOp::max) && fits_half(n->a) && fits_half(n->b);
}

std::optional<bool> decided(const Expr& cond, const Ranges& ranges) {
  if (const auto v = ir::as_int(cond)) return *v != 0;
  if (const auto* same = ir::as<ir::BroadcastNode>(cond)) return decided(same->value, ranges);
  const auto* n = ir::as<ir::BinaryNode>(cond);
  if (n == nullptr) return std::nullopt;
  if (n->op == BinaryOp::and_ || n->op == BinaryOp::or_) {
    const bool rules = n->op == BinaryOp::or_;  // the value of one side that settles it
    const auto a = decided(n->a, ranges), b = decided(n->b, ranges);
    if (a == rules || b == rules) return rules;
    return a && b ? std::optional(!rules) : std::nullopt;
  }
  const auto a = interval_of(n->a, ranges), b = interval_of(n->b, ranges);
  if (!a || !b) return std::nullopt;
  const bool below = a->hi<b->lo, above = a->lo> b->hi;
  switch (n->op) {
    case BinaryOp::lt:
      if (below) return true;
      return a->lo >= b->hi ? std::optional(false) : std::nullopt;
    case BinaryOp::le:
      if (a->hi <= b->lo) return true;
      return above ? std::optional(false) : std::nullopt;
    case BinaryOp::eq:
      return below || above ? std::optional(false) : std::nullopt;
    case BinaryOp::ne:
      return below || above ? std::optional(true) : std::nullopt;
    default:
      return std::nullopt;
  }
}

void narrow(Ranges& ranges, const Expr& cond, bool holds) {
  const auto* n = ir::as<ir::BinaryNode>(cond);
  if (n == nullptr) return;
  if (n->op == (holds ? BinaryOp::and_ : BinaryOp::or_)) {
    narrow(ranges, n->a, holds);
    return narrow(ranges, n->b, holds);
  }
  if (n->op != BinaryOp::lt && n->op != BinaryOp::le) return;
  const auto clip = [&](const Expr& e, std::optional<int64_t> lo, std::optional<int64_t> hi) {
    const auto* v = ir::as<ir::VarNode>(e);
    const auto it = v == nullptr ? ranges.end() : ranges.find(v);
    if (it == ranges.end()) return;
    if (lo) it->second.lo = std::max(it->second.lo, *lo);
    if (hi) it->second.hi = std::min(it->second.hi, *hi);
    it->second.hi = std::max(it->second.hi, it->second.lo);  // code that is never reached
  };
  const int64_t strict = (n->op == BinaryOp::lt) == holds ? 1 : 0;  // not (a < b) is b <= a, not (a <= b) is b < a
  const auto &small = holds ? n->a : n->b, &large = holds ? n->b : n->a;
  if (const auto c = ir::as_int(large)) clip(small, std::nullopt, *c - strict);
  if (const auto c = ir::as_int(small)) clip(large, *c + strict, std::nullopt);
}

int64_t known_divisor(const Expr& e) {
  return ir::match(
      e, [](const ir::IntImmNode& n) { return n.value < 0 ? -n.value : n.value; },
      [](const ir::BinaryNode& n) -> int64_t {
        if (n.op == BinaryOp::add || n.op == BinaryOp::sub) return std::gcd(known_divisor(n.a), known_divisor(n.b));
        // The cap keeps long products from overflowing; a divisor of the true one is still right.
        if (n.op == BinaryOp::mul) return std::gcd(known_divisor(n.a), int64_t{1} << 20) * std::gcd(known_divisor(n.b), int64_t{1} << 20);
        // x mod c is x less a multiple of c.
        if (n.op == BinaryOp::floor_mod) return std::gcd(known_divisor(n.a), known_divisor(n.b));
        if (const auto c = ir::as_int(n.b); n.op == BinaryOp::floor_div && c && *c > 0 && known_divisor(n.a) % *c == 0) return known_divisor(n.a) / *c;
        return 1;
      },
      [](const auto&) -> int64_t { return 1; });
}

std::optional<Ramp> as_ramp(const Expr& e) {
  using R = std::optional<Ramp>;
  if (e->dtype.lanes == 1) return std::nullopt;
  return ir::match(
      e,
      [](const ir::RampNode& n) -> R {
        return Ramp{n.base, n.stride};
      },
      [](const ir::BroadcastNode& n) -> R {
        return Ramp{n.value, ir::zero(n.value->dtype)};
      },
      [](const ir::BinaryNode& n) -> R {
        if (n.op != BinaryOp::add && n.op != BinaryOp::sub && n.op != BinaryOp::mul) return std::nullopt;
        auto a = as_ramp(n.a), b = as_ramp(n.b);
        if (!a || !b) return std::nullopt;
        if (n.op == BinaryOp::add) return Ramp{a->base + b->base, a->stride + b->stride};
        if (n.op == BinaryOp::sub) return Ramp{a->base - b->base, a->stride - b->stride};
        if (ir::is_int(b->stride, 0)) return Ramp{a->base * b->base, a->stride * b->base};
        if (ir::is_int(a->stride, 0)) return Ramp{a->base * b->base, b->stride * a->base};
        return std::nullopt;
      },
      [](const auto&) -> R { return std::nullopt; });
}

std::optional<LaneOffsets> lane_offsets(const Expr& e) {
  const auto lanes = static_cast<size_t>(e->dtype.lanes);
  if (lanes == 1) return std::nullopt;
  if (const auto ramp = as_ramp(e)) {
    const auto stride = ir::as_int(ramp->stride);
    if (!stride) return std::nullopt;
    LaneOffsets out{ramp->base, {}};
    for (size_t i = 0; i < lanes; ++i) out.offsets.push_back(static_cast<int64_t>(i) * *stride);
    return out;
  }
  const auto* n = ir::as<ir::BinaryNode>(e);
  if (n == nullptr) return std::nullopt;
  auto a = lane_offsets(n->a);
  const auto b = lane_offsets(n->b);
  if (!a || !b) return std::nullopt;
  const bool sum = n->op == BinaryOp::add || n->op == BinaryOp::sub;
  const auto by = ir::as_int(b->base);
  const bool uniform = std::all_of(b->offsets.begin(), b->offsets.end(), [](int64_t o) { return o == 0; });
  if (!sum && (!by || !uniform)) return std::nullopt;
  if (const auto known = ir::as_int(a->base); known && !sum) {
    for (int64_t& o : a->offsets) o += *known;
    a->base = ir::index(0);
  }
  const bool divides = by && *by > 0 && known_divisor(a->base) % *by == 0;
  // All lanes lie between two multiples of what divides the base and the constant: one quotient, remainders side by side.
  const int64_t step = by && *by > 0 ? std::gcd(known_divisor(a->base), *by) : 0;
  const bool stays = !divides && std::all_of(a->offsets.begin(), a->offsets.end(), [&](int64_t o) { return o >= 0 && o < step; });
  switch (n->op) {
    case BinaryOp::add:
    case BinaryOp::sub:
      a->base = n->op == BinaryOp::add ? a->base + b->base : a->base - b->base;
      for (size_t i = 0; i < lanes; ++i) a->offsets[i] += n->op == BinaryOp::add ? b->offsets[i] : -b->offsets[i];
      return a;
    case BinaryOp::mul:
      a->base = a->base * b->base;
      for (int64_t& o : a->offsets) o *= *by;
      return a;
    case BinaryOp::floor_div:
      if (stays) return LaneOffsets{ir::floor_div(a->base, b->base), std::vector<int64_t>(lanes, 0)};
      a->base = ir::floor_div(a->base, b->base);
      for (int64_t& o : a->offsets) o = divides ? floor_div_int(o, *by) : 0;
      return divides ? a : std::nullopt;
    case BinaryOp::floor_mod:
      if (stays) return LaneOffsets{ir::floor_mod(a->base, b->base), a->offsets};
      a->base = ir::index(0);
      for (int64_t& o : a->offsets) o = divides ? floor_mod_int(o, *by) : 0;
      return divides ? a : std::nullopt;
    default:
      return std::nullopt;
  }
}

int piece_length(const std::vector<int64_t>& offsets) {
  const auto regular = [&](size_t length, size_t first) {
    const int64_t stride = offsets[first + 1] - offsets[first];
    bool same = stride == 0 || stride == 1;
    for (size_t i = first; same && i + 1 < first + length; ++i) same = offsets[i + 1] - offsets[i] == stride;
    return same;
  };
  for (size_t length = offsets.size() / 2; length > 1; length /= 2) {
    bool all = offsets.size() % length == 0 && (length & (length - 1)) == 0;
    for (size_t first = 0; all && first < offsets.size(); first += length) all = regular(length, first);
    if (all) return static_cast<int>(length);
  }
  return 0;
}

LinearIndex linear_index(const Expr& e) {
  LinearIndex sum;
  add_linear(sum, e, 1);
  std::erase_if(sum.terms, [](const LinearIndex::Term& t) { return t.coefficient == 0; });
  return sum;
}

namespace {

/// Equal for equal expressions of integers, variables being told apart by identity. Nothing for what reads memory.
std::optional<std::string> key_of(const Expr& e) {
  if (const auto* v = ir::as<ir::VarNode>(e)) return fmt::format("{}", fmt::ptr(v));
  if (const auto n = ir::as_int(e)) return fmt::format("{}", *n);
  const auto* n = ir::as<ir::BinaryNode>(e);
  const auto a = n ? key_of(n->a) : std::nullopt, b = a ? key_of(n->b) : std::nullopt;
  return b ? std::optional(fmt::format("({} {} {})", *a, static_cast<int>(n->op), *b)) : std::nullopt;
}

}  // namespace

std::optional<std::string> key_of(const ir::BufferNode* buffer, const LinearIndex& at) {
  std::vector<std::string> terms;
  for (const LinearIndex::Term& t : at.terms) {
    const auto atom = key_of(t.atom);
    if (!atom) return std::nullopt;
    terms.push_back(fmt::format("{}*{}", *atom, t.coefficient));
  }
  std::sort(terms.begin(), terms.end());
  return fmt::format("{}: {}", fmt::ptr(buffer), fmt::join(terms, " + "));
}

Expr flat_index(const ir::Buffer& buffer, const std::vector<Expr>& indices) {
  if (indices.size() == 1) return indices[0];
  TW_ASSERT(indices.size() == buffer->shape.size(), "number of indices of " + buffer->name);
  Expr flat = ir::index(0);
  for (size_t d = 0; d < indices.size(); ++d) flat = d == 0 ? indices[0] : flat * buffer->shape[d] + indices[d];
  return flat;
}

}  // namespace tw::codegen
