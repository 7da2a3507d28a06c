// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/graph/passes/rules/rule.h"

namespace tw::graph::rules {

namespace {

/// A node of two operands, one of them constant.
struct WithConstant {
  int data = -1;
  const HostArray* constant = nullptr;
  bool constant_first = false;
};
std::optional<WithConstant> split(const Site& s, const std::vector<int>& inputs) {
  const HostArray *a = s.constant(inputs[0]), *b = s.constant(inputs[1]);
  if ((a != nullptr) == (b != nullptr)) return {};
  return a ? WithConstant{inputs[1], a, true} : WithConstant{inputs[0], b, false};
}

/// x + 0, x - 0, x * 1, x / 1, and the like for booleans and bits.
Expected<Outcome> neutral_operand(Site& s) {
  const auto parts = split(s, s.draft().inputs);
  if (!parts || s.type(parts->data) != s.result()) return nothing();
  const std::string& op = s.draft().op;
  if (parts->constant_first && (op == "sub" || op == "div" || op == "shift_left" || op == "shift_right")) return nothing();
  const auto value = uniform(*parts->constant);
  if (!value) return nothing();
  const bool one = op == "mul" || op == "div" || op == "and";
  return *value == (one ? 1.0 : 0.0) ? Outcome(parts->data) : nothing();
}

double largest(const HostArray& x) {
  double most = 0;
  for (int64_t i = 0; i < x.num_elements(); ++i) most = std::max(most, std::abs(x.get(i)));
  return most;
}

/// Every element finite, and none lost to underflow that was there before. Of sums that cancel, the first one rounds, as it is meant to where 1.5 * 2^23 is
/// added and taken away.
bool survives(const HostArray& folded, bool product, const HostArray& a, const HostArray& b) {
  constexpr double kCancelled = 0x1p-12;
  if (!folded.dtype.is_float()) return true;
  if (!product && largest(folded) < kCancelled * std::max(largest(a), largest(b))) return false;
  const auto some_zero = [](const HostArray& x) {
    for (int64_t i = 0; i < x.num_elements(); ++i)
      if (x.get(i) == 0) return true;
    return false;
  };
  const double least = folded.dtype == kFloat64 ? 0x1p-1022 : folded.dtype == kFloat16 ? 0x1p-14 : 0x1p-126;
  const bool zero_allowed = !product || some_zero(a) || some_zero(b);
  for (int64_t i = 0; i < folded.num_elements(); ++i) {
    const double v = std::abs(folded.get(i));
    if (!std::isfinite(v) || (product && v < least && !(zero_allowed && v == 0))) return false;
  }
  return true;
}

/// op(a, b) of two constants, unless that would need more room than both or leave the range of the type.
Expected<std::optional<HostArray>> folded(const std::string& op, const HostArray& a, const HostArray& b) {
  TW_TRY(HostArray c, fold(op, {a, b}));
  if (c.num_elements() > std::max(a.num_elements(), b.num_elements()) || !survives(c, op == "mul", a, b)) return std::optional<HostArray>();
  return std::optional(std::move(c));
}

/// (x o a) o b = x o (a o b) for associative operators with constants.
Expected<Outcome> constants_together(Site& s) {
  const std::string& op = s.draft().op;
  const auto outer = split(s, s.draft().inputs);
  if (!outer) return nothing();
  const Node* node = s.made_by(outer->data, op);
  const auto inner = node ? split(s, node->inputs) : std::nullopt;
  if (!inner) return nothing();
  TW_TRY(auto both, folded(op, *inner->constant, *outer->constant));
  if (!both) return nothing();
  return Outcome(Draft{op, {inner->data, s.add_constant(std::move(*both))}});
}

/// Sums and differences of one value and two constants: (a - x) + b, a - (x + b), a - (b - x).
Expected<Outcome> constant_differences(Site& s) {
  const auto outer = split(s, s.draft().inputs);
  const bool add = s.draft().op == "add";
  if (!outer || (!add && !outer->constant_first)) return nothing();
  const Node* node = s.made_by(outer->data, "sub");
  bool inner_add = false;
  if (!node && !add) {
    node = s.made_by(outer->data, "add");
    inner_add = true;
  }
  const auto inner = node ? split(s, node->inputs) : std::nullopt;
  if (!inner || (!inner_add && !inner->constant_first)) return nothing();
  TW_TRY(auto both, folded(add ? "add" : "sub", *outer->constant, *inner->constant));
  if (!both) return nothing();
  const int c = s.add_constant(std::move(*both));
  return add || inner_add ? Outcome(Draft{"sub", {c, inner->data}}) : Outcome(Draft{"add", {inner->data, c}});
}

/// -(-x), -(a - b), -(x * c), and negations that a neighbour can take over.
Expected<Outcome> negation(Site& s) {
  const int x = s.input(0);
  if (const Node* n = s.made_by(x, "neg")) return Outcome(n->inputs[0]);
  if (const Node* n = s.made_by(x, "sub")) return Outcome(Draft{"sub", {n->inputs[1], n->inputs[0]}});
  const Node* product = s.made_by(x, "mul");
  const auto parts = product ? split(s, product->inputs) : std::nullopt;
  if (!parts) return nothing();
  TW_TRY(HostArray negative, fold("neg", {*parts->constant}));
  return Outcome(Draft{"mul", {parts->data, s.add_constant(std::move(negative))}});
}
Expected<Outcome> sum_with_negation(Site& s) {
  const bool add = s.draft().op == "add";
  if (const Node* n = s.made_by(s.input(1), "neg")) return Outcome(Draft{add ? "sub" : "add", {s.input(0), n->inputs[0]}});
  if (const Node* n = add ? s.made_by(s.input(0), "neg") : nullptr) return Outcome(Draft{"sub", {s.input(1), n->inputs[0]}});
  return nothing();
}
Expected<Outcome> product_with_negation(Site& s) {
  const auto parts = split(s, s.draft().inputs);
  const Node* n = parts ? s.made_by(parts->data, "neg") : nullptr;
  if (!n) return nothing();
  TW_TRY(HostArray negative, fold("neg", {*parts->constant}));
  return Outcome(Draft{"mul", {n->inputs[0], s.add_constant(std::move(negative))}});
}

/// Functions that change nothing the second time, or that undo themselves.
Expected<Outcome> repeated_function(Site& s) {
  const std::string& op = s.draft().op;
  const bool undoes = op == "not" || op == "bitwise_not";
  if (const Node* n = s.made_by(s.input(0), op)) return Outcome(undoes ? n->inputs[0] : s.input(0));
  if (op == "abs")
    if (const Node* n = s.made_by(s.input(0), "neg"); n && s.result().dtype.is_float()) return Outcome(Draft{"abs", {n->inputs[0]}});
  const auto rounds = [](std::string_view f) { return f == "floor" || f == "ceil" || f == "round" || f == "trunc"; };
  if (rounds(op))
    for (const char* other : {"floor", "ceil", "round", "trunc"})
      if (s.made_by(s.input(0), other)) return Outcome(s.input(0));
  return nothing();
}

struct Limits {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};
std::optional<Limits> limits_of(const std::string& op, const Attrs& attrs) {
  Limits l;
  if (op == "relu") l.low = 0;
  if (op == "clip") l = {attrs.real("min", l.low), attrs.real("max", l.high)};
  return (op == "relu" || op == "clip") && l.low <= l.high ? std::optional(l) : std::nullopt;
}

/// A limit on a limited value is one limit: max(0, x) is one as well.
Expected<Outcome> limits_together(Site& s) {
  const auto outer = limits_of(s.draft().op, s.draft().attrs);
  const Node* n = s.made_by(s.input(0), "clip");
  if (!n) n = s.made_by(s.input(0), "relu");
  const auto inner = n ? limits_of(n->op, n->attrs) : std::nullopt;
  if (!outer || !inner || !s.result().dtype.is_float()) return nothing();
  const Limits both{std::clamp(inner->low, outer->low, outer->high), std::clamp(inner->high, outer->low, outer->high)};
  Attrs attrs;
  if (std::isfinite(both.low)) attrs.values["min"] = both.low;
  if (std::isfinite(both.high)) attrs.values["max"] = both.high;
  if (both.low == 0 && !std::isfinite(both.high)) return Outcome(Draft{"relu", {n->inputs[0]}});
  return Outcome(Draft{"clip", {n->inputs[0]}, std::move(attrs)});
}

}  // namespace

std::span<const Rule> arithmetic() {
  static const std::array kRules = {
      Rule{"add sub mul div and or xor bitwise_or bitwise_xor shift_left shift_right", neutral_operand, "x + 0, x * 1 and the like are x"},
      Rule{"add mul max min and or bitwise_and bitwise_or bitwise_xor", constants_together, "(x + a) + b is x + (a + b), and so for products and limits"},
      Rule{"add sub", constant_differences, "(a - x) + b is (a + b) - x, and the like"},
      Rule{"neg", negation, "-(-x) is x, -(a - b) is b - a, -(x * c) is x * -c"},
      Rule{"add sub", sum_with_negation, "a + -b is a - b"},
      Rule{"mul", product_with_negation, "-x * c is x * -c"},
      Rule{"relu abs floor ceil round trunc not bitwise_not", repeated_function, "Functions that change nothing the second time, or undo themselves"},
      Rule{"clip relu", limits_together, "A limit on a limited value is one limit"},
  };
  return kRules;
}

}  // namespace tw::graph::rules
