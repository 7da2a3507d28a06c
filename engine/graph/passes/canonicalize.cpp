// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/canonicalize.h"

#include <algorithm>
#include <cmath>

#include "engine/graph/op.h"
#include "engine/graph/passes/constants.h"
#include "engine/graph/rewrite.h"

namespace tw::graph {

namespace {

/// Axes counted from the front.
void normalise_axes(Node& n, int64_t rank) {
  if (const auto it = n.attrs.values.find("axis"); it != n.attrs.values.end())
    if (auto* axis = std::get_if<int64_t>(&it->second); axis && *axis < 0) *axis += n.op == "one_hot" ? rank + 1 : rank;
  for (const char* name : {"axes", "perm"})
    if (const auto it = n.attrs.values.find(name); it != n.attrs.values.end())
      if (auto* list = std::get_if<std::vector<int64_t>>(&it->second)) {
        for (int64_t& a : *list) a += a < 0 ? rank : 0;
        if (it->first == "axes") std::sort(list->begin(), list->end());
      }
}

/// 1 / c for every element, if multiplying by it is as good as dividing: exact for powers of two, else one rounding more (`inexact`), which only wide types
/// can bear.
std::optional<HostArray> reciprocals(const HostArray& c, bool inexact) {
  if (!c.dtype.is_float()) return {};
  HostArray out = c;
  const double least = c.dtype == kFloat64 ? 0x1p-1022 : c.dtype == kFloat16 ? 0x1p-14 : 0x1p-126;
  for (int64_t i = 0; i < c.num_elements(); ++i) {
    const double d = c.get(i), r = 1 / d;
    int exponent = 0;
    if (!std::isfinite(r) || std::abs(r) < least || ((c.dtype.bits < 32 || !inexact) && std::abs(std::frexp(d, &exponent)) != 0.5)) return {};
    out.set(i, r);
    if (!std::isfinite(out.get(i))) return {};
  }
  return out;
}

/// Whether a last bit of an operand decides about the result: whole numbers, comparisons, places of the largest.
bool jumps(const Node& n, const Graph& g) {
  static constexpr std::string_view kJumping[] = {"floor", "ceil",    "round",         "trunc",  "sign",   "mod",   "fmod",          "equal",
                                                  "not_equal", "less", "less_equal", "greater", "greater_equal", "argmax", "argmin", "top_k_indices"};
  if (n.op == "cast") return !g.values[static_cast<size_t>(n.outputs[0])].type.dtype.is_float();
  return std::find(std::begin(kJumping), std::end(kJumping), n.op) != std::end(kJumping);
}

/// Per value: whether such an operator reads it, or what is computed of it element by element.
std::vector<bool> read_by_jumps(const Graph& g) {
  std::vector<bool> read(g.values.size());
  for (size_t k = g.nodes.size(); k-- > 0;) {
    const Node& n = g.nodes[k];
    const bool element = find_op(n.op)->fusion <= FusionKind::injective;
    const bool on = jumps(n, g) || (element && std::any_of(n.outputs.begin(), n.outputs.end(), [&](int v) { return read[static_cast<size_t>(v)]; }));
    for (const int v : n.inputs)
      if (on && v >= 0) read[static_cast<size_t>(v)] = true;
  }
  return read;
}

class Canonicalizer {
 public:
  explicit Canonicalizer(const Graph& g) : g_(g), rewrite_(g), read_by_jumps_(read_by_jumps(g)) {}

  Expected<Graph> run() {
    for (const Node& old : g_.nodes) {
      Node n = old;
      rewrite_.at(n);
      if (!n.inputs.empty() && n.inputs[0] >= 0) normalise_axes(n, static_cast<int64_t>(type(n.inputs[0]).shape.size()));
      order_operands(n);
      TW_TRY(const bool done, replace_constant_operand(n));
      if (!done) TW_CHECK(rewrite_.copy(n));
    }
    return std::move(rewrite_).finish();
  }

 private:
  const TensorType& type(int v) const { return g_.values[static_cast<size_t>(v)].type; }
  const HostArray* constant(int v) const { return v < 0 ? nullptr : g_.values[static_cast<size_t>(v)].constant.get(); }

  void order_operands(Node& n) const {
    if (n.op == "greater" || n.op == "greater_equal") {
      n.op = n.op == "greater" ? "less" : "less_equal";
      std::swap(n.inputs[0], n.inputs[1]);
    }
    if (!is_commutative(n.op)) return;
    if (constant(n.inputs[0]) && !constant(n.inputs[1])) std::swap(n.inputs[0], n.inputs[1]);
  }

  /// Writes `op` in place of `n`; the result takes the name of the old one.
  Expected<bool> write(const Node& n, const std::string& op, std::vector<int> inputs) {
    TW_TRY(const std::vector<int> out, rewrite_.builder().node(op, std::move(inputs), {}, n.name));
    rewrite_.builder().rename(out[0], g_.values[static_cast<size_t>(n.outputs[0])].name);
    rewrite_.replace(n.outputs[0], out[0]);
    return true;
  }

  int add_constant(const Node& n, HostArray a) { return rewrite_.builder().constant(g_.values[static_cast<size_t>(n.inputs[1])].name, std::move(a)); }

  Expected<bool> replace_constant_operand(const Node& n) {
    if (n.inputs.size() != 2 || !constant(n.inputs[1]) || constant(n.inputs[0])) return false;
    const HostArray& c = *constant(n.inputs[1]);
    const int x = rewrite_.value(n.inputs[0]);
    if (n.op == "sub") {
      TW_TRY(HostArray negative, fold("sub", {full(c.dtype, 0), c}));
      return write(n, "add", {x, add_constant(n, std::move(negative))});
    }
    if (n.op == "div") {
      auto r = reciprocals(c, !read_by_jumps_[static_cast<size_t>(n.outputs[0])]);
      if (r) return write(n, "mul", {x, add_constant(n, std::move(*r))});
    }
    if (n.op == "pow" && c.dtype.is_float() && type(n.inputs[0]).shape == type(n.outputs[0]).shape) {
      const auto exponent = uniform(c);
      if (exponent == 1.0 && rewrite_.may_alias(n.outputs[0], x)) {
        rewrite_.replace(n.outputs[0], x);
        return true;
      }
      if (exponent == 2.0) return write(n, "square", {x});
      if (exponent == 0.5) return write(n, "sqrt", {x});
      if (exponent == -0.5) {
        TW_TRY(const std::vector<int> root, rewrite_.builder().node("sqrt", {x}, {}, n.name + ".sqrt"));
        return write(n, "reciprocal", {root[0]});
      }
      if (exponent == 3.0) {
        TW_TRY(const std::vector<int> squared, rewrite_.builder().node("square", {x}, {}, n.name + ".square"));
        return write(n, "mul", {squared[0], x});
      }
    }
    return false;
  }

  const Graph& g_;
  Rewriter rewrite_;
  std::vector<bool> read_by_jumps_;
};

}  // namespace

Expected<Graph> canonicalize(const Graph& g, const Target&) { return Canonicalizer(g).run(); }

}  // namespace tw::graph
