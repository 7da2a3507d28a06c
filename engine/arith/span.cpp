// SPDX-License-Identifier: Apache-2.0
#include "engine/arith/span.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "engine/ir/visit.h"

namespace tw::arith {

using ir::Expr;

namespace {

bool stands_still(const Expr& e, const FixedVars& fixed) {
  bool ok = true;
  ir::walk(e, [&](const Expr& x) {
    if (const auto* v = ir::as<ir::VarNode>(x)) ok = ok && fixed.count(v) != 0;
    ok = ok && !ir::as<ir::LoadNode>(x);
  });
  return ok;
}

/// Of a running part of an index that is no sum.
std::optional<Span> span_of_atom(const Expr& atom, const FixedVars& fixed, const Analyzer& facts) {
  Span out;
  const auto* b = ir::as<ir::BinaryNode>(atom);
  const auto c = b ? ir::as_int(b->b) : std::nullopt;
  if (b && c && *c > 0 && (b->op == ir::BinaryOp::floor_div || b->op == ir::BinaryOp::floor_mod)) {
    const auto x = span_of(b->a, fixed, facts);
    if (!x) return std::nullopt;
    const Expr base = x->fixed.to_expr();
    const bool aligned = ir::is_int(facts.simplify(ir::floor_mod(base, ir::index(*c))), 0);
    if (b->op == ir::BinaryOp::floor_mod) {
      const bool whole = aligned && x->lo >= 0 && x->hi < *c;
      out.lo = whole ? x->lo : 0;
      out.hi = whole ? x->hi : *c - 1;
    } else if (aligned) {
      out.fixed = facts.linear(ir::floor_div(base, ir::index(*c)));
      out.lo = floor_div_int(x->lo, *c);
      out.hi = floor_div_int(x->hi, *c);
    } else {
      out.fixed = facts.linear(ir::floor_div(base + x->lo, ir::index(*c)));
      out.hi = (x->hi - x->lo) / *c + 1;
    }
    out.count = std::min(x->count, out.extent());
    return out;
  }
  const Bounds bounds = facts.bounds(atom);
  if (!bounds.finite()) return std::nullopt;
  out.lo = bounds.lo;
  out.hi = bounds.hi;
  out.count = out.extent();
  return out;
}

/// A part of an index: values that are multiples of `step`.
struct Part {
  int64_t step, extent, count;
};

/// How many sums there are of one value of each part, at most: exact where each step continues the run that smaller ones make, is a multiple of the last that left
/// gaps, or is longer than all that there is.
int64_t count_sums(std::vector<Part> parts) {
  int64_t divisor = 0;
  for (const Part& p : parts) divisor = std::gcd(divisor, p.step);
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.step < b.step; });
  // So far: `run` sets of `each` values, `stride` apart, in units of the divisor.
  int64_t extent = 1, each = 1, stride = 1, run = 1;
  const auto product = [&](int64_t a, int64_t b) { return a > extent / b ? extent : a * b; };
  for (const Part& p : parts) {
    const int64_t step = p.step / divisor, before = extent, all = product(each, run);
    extent += step * (p.extent - 1);
    if (p.count == p.extent && step % stride == 0 && step / stride <= run) {
      run += step / stride * (p.extent - 1);
      continue;
    }
    const bool apart = step >= before;
    each = apart ? all : product(all, p.count);
    run = apart ? p.count : 1;
    stride = step;
  }
  return product(each, run);
}

}  // namespace

std::optional<Span> span_of(const Expr& e, const FixedVars& fixed, const Analyzer& facts) {
  const Linear l = facts.joined(e);  // so that what fused loops take apart and the index joins again is one run
  Span out;
  out.fixed.constant = l.constant;
  std::vector<Part> parts;
  for (const Linear::Term& t : l.terms) {
    if (stands_still(t.atom, fixed)) {
      out.fixed.add_term(t.atom, t.coeff);
      continue;
    }
    const auto part = span_of_atom(t.atom, fixed, facts);
    if (!part) return std::nullopt;
    out.fixed.add(part->fixed, t.coeff);
    out.lo += (t.coeff > 0 ? part->lo : part->hi) * t.coeff;
    out.hi += (t.coeff > 0 ? part->hi : part->lo) * t.coeff;
    if (part->count > 1) parts.push_back({std::abs(t.coeff), part->extent(), part->count});
  }
  if (!parts.empty()) out.count = count_sums(std::move(parts));
  return out;
}

bool unite(Span& span, const Span& other) {
  Linear gap = other.fixed;
  gap.add(span.fixed, -1);
  if (!gap.is_constant()) return false;
  const int64_t lo = other.lo + gap.constant, hi = other.hi + gap.constant;
  const bool same = span.lo == lo && span.hi == hi && span.count == other.count;
  span.lo = std::min(span.lo, lo);
  span.hi = std::max(span.hi, hi);
  if (!same) span.count = std::min(span.extent(), span.count + other.count);
  return true;
}

}  // namespace tw::arith
