// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/graph/passes/quantised.h"
#include "engine/graph/passes/rules/rule.h"

namespace tw::graph::rules {

namespace {

/// Whole numbers in another type.
HostArray numbers_of(const HostArray& integers, DType t) {
  HostArray out = HostArray::make(t, integers.shape);
  for (int64_t i = 0; i < out.num_elements(); ++i) out.set(i, integers.get(i));
  return out;
}

/// Up to here every whole number has a representation of its own.
double exact_limit(DType t) {
  if (t == kFloat64) return 0x1p53;
  if (t == kFloat32) return 0x1p24;
  return t == kFloat16 ? 0x1p11 : 0x1p8;
}

bool holds(DType t, const WholeRange& r) {
  if (!t.is_int()) return false;
  const double low = t.is_signed() ? -std::ldexp(1.0, t.bits - 1) : 0, high = std::ldexp(1.0, t.is_signed() ? t.bits - 1 : t.bits) - 1;
  return r.low >= low && r.high <= high;
}

/// Numbers that were quantised, dequantised again: what they are as integers in between is nothing to compute.
Expected<Outcome> through_integers(Site& s) {
  const DType to = s.result().dtype;
  if (!to.is_float()) return nothing();
  std::optional<Shifted> moved = shifted(s.graph(), s.input(0));
  if (moved && !moved->by->dtype.is_int()) return nothing();
  const int whole = moved ? moved->data : s.input(0);
  int from = whole;
  while (const Node* inner = s.made_by(from, "cast")) from = inner->inputs[0];
  const auto range = from == whole || s.type(from).dtype != to ? std::nullopt : quantised_range(s.graph(), from);
  if (!range) return nothing();
  for (int v = whole; v != from; v = s.made_by(v, "cast")->inputs[0])
    if (!holds(s.type(v).dtype, *range)) return nothing();
  if (!moved) return exact_limit(to) >= std::max(-range->low, range->high) ? Outcome(from) : nothing();
  const auto by = whole_range(*moved->by);
  if (!by) return nothing();
  const WholeRange sum = moved->subtracted ? WholeRange{range->low - by->high, range->high - by->low} : WholeRange{range->low + by->low, range->high + by->high};
  const double most = std::max({-range->low, range->high, -by->low, by->high, -sum.low, sum.high});
  if (!holds(s.type(s.input(0)).dtype, sum) || most > exact_limit(to)) return nothing();
  return Outcome(Draft{moved->subtracted ? "sub" : "add", {from, s.add_constant(numbers_of(*moved->by, to))}});
}

/// limits(round(x) + a) + b is limits'(round(x) + (a + b)): a zero point that comes and goes.
Expected<Outcome> moved_limits(Site& s) {
  const HostArray* c = s.constant(s.input(1));
  const auto by = c ? uniform(*c) : std::nullopt;
  const Node* clip = by && is_whole(*by) ? s.made_by(s.input(0), "clip") : nullptr;
  if (!clip || s.type(s.input(0)) != s.result() || !quantised_range(s.graph(), s.input(0))) return nothing();
  const double b = s.draft().op == "sub" ? -*by : *by, low = clip->attrs.real("min", 0) + b, high = clip->attrs.real("max", 0) + b;
  const auto inner = shifted(s.graph(), clip->inputs[0]);
  const auto a = inner ? uniform(*inner->by) : std::nullopt;
  if (!a || s.type(inner->data) != s.result()) return nothing();
  const double rest = (inner->subtracted ? -*a : *a) + b;
  if (std::max({std::abs(low), std::abs(high), std::abs(rest), std::abs(*a), std::abs(b)}) > exact_limit(s.result().dtype)) return nothing();
  int x = inner->data;
  if (rest != 0) {
    TW_TRY(x, s.add_node({"add", {x, s.add_constant(full(s.result().dtype, rest))}}, ".moved"));
  }
  return Outcome(Draft{"clip", {x}, Attrs{{{"min", low}, {"max", high}}}});
}

/// The largest magnitude that an integer value can have, as far as it follows from types of 8 bits and constants a few nodes before it.
std::optional<double> magnitude(const Site& s, int v, int nodes = 6) {
  if (nodes == 0) return {};
  if (const HostArray* c = s.constant(v)) {
    const auto r = whole_range(*c);
    return r ? std::optional(std::max(-r->low, r->high)) : std::nullopt;
  }
  const DType t = s.type(v).dtype;
  if (!t.is_int()) return {};
  if (t.bits == 8) return t.is_signed() ? 128 : 255;
  for (const char* op : {"cast", "reshape", "transpose", "slice", "broadcast_to"})
    if (const Node* n = s.made_by(v, op)) return magnitude(s, n->inputs[0], nodes - 1);
  for (const char* op : {"add", "sub"})
    if (const Node* n = s.made_by(v, op)) {
      const auto a = magnitude(s, n->inputs[0], nodes - 1), b = magnitude(s, n->inputs[1], nodes - 1);
      return a && b ? std::optional(*a + *b) : std::nullopt;
    }
  return {};
}

/// An integer operand as numbers; one that was quantised just before is what it was then.
Expected<int> in_float32(Site& s, int v) {
  if (const HostArray* c = s.constant(v)) return s.add_constant(numbers_of(*c, kFloat32));
  const TensorType type{kFloat32, s.type(v).shape};
  Draft number{"cast", {v}, Attrs{{{"to", std::string("float32")}}}};
  for (Expected<Outcome> (*rule)(Site&) : {through_integers, moved_limits}) {
    Site site = s.with(number, type);
    TW_TRY(Outcome made, rule(site));
    if (const int* known = std::get_if<int>(&made)) return *known;
    if (std::holds_alternative<std::monostate>(made)) break;
    number = std::get<Draft>(std::move(made));
  }
  return s.add_node(number, ".number");
}

/// Sums of products of numbers of 8 bits that become float32: they are summed in it. Up to 2^24 that is exact; beyond, the sum is rounded as the cast would round it, if a
/// few times more. There are no fast products of 32-bit integers.
Expected<Outcome> product_of_small_integers(Site& s) {
  constexpr double kSmall = 512;  // two of 8 bits and a zero point; their products stay far below 2^24
  if (s.result().dtype != kFloat32) return nothing();
  const auto moved = shifted(s.graph(), s.input(0));
  const int product = moved && !moved->subtracted ? moved->data : s.input(0);
  if (s.type(product).dtype != kInt32) return nothing();
  const Node* n = nullptr;
  for (const char* op : {"dense", "matmul", "conv1d", "conv2d", "conv3d"})
    if (!n) n = s.made_by(product, op);
  if (!n) return nothing();
  const auto exact = [](const HostArray& a) {
    const auto r = whole_range(a);
    return r && std::max(-r->low, r->high) <= exact_limit(kFloat32);
  };
  if (product != s.input(0) && !exact(*moved->by)) return nothing();
  Draft in_numbers{n->op, {}, n->attrs};
  const std::vector<int> operands = n->inputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    const HostArray* c = s.constant(operands[i]);
    const auto m = i < 2 ? magnitude(s, operands[i]) : std::nullopt;
    if (i < 2 ? !m || *m > kSmall : !c || !exact(*c)) return nothing();
  }
  for (const int v : operands) {
    TW_TRY(const int number, in_float32(s, v));
    in_numbers.inputs.push_back(number);
  }
  if (product == s.input(0)) return Outcome(in_numbers);
  HostArray added = numbers_of(*moved->by, kFloat32);
  TW_TRY(const int sum, s.add_node(in_numbers, ".product"));
  return Outcome(Draft{"add", {sum, s.add_constant(std::move(added))}});
}

}  // namespace

std::span<const Rule> quantisation() {
  static const std::array kRules = {
      Rule{"cast", through_integers, "Quantised and dequantised again is rounded and limited, without integers in between"},
      Rule{"cast", product_of_small_integers, "Sums of products of 8-bit integers that become float32 are summed in it"},
      Rule{"add sub", moved_limits, "A zero point that is added before limits and taken off after them moves the limits"},
  };
  return kRules;
}

}  // namespace tw::graph::rules
