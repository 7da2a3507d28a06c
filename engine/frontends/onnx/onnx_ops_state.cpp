// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "engine/frontends/onnx/limits.h"
#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

/// [batch, time, heads * size] as [batch, heads, time, size].
int by_head(OnnxNode& n, int x, int64_t heads) {
  const Dims s = n.shape(x);
  if (s.size() != 3 || heads < 1 || s[2] % heads != 0)
    n.invalid(fmt::format("expected [batch, time, heads * size] with {} heads, found {}", heads, shape_text(s)));
  return n.transpose(n.reshape(x, {s[0], s[1], heads, s[2] / heads}), {0, 2, 1, 3});
}

/// A state S [batch, heads, size, value size] that decays, learns a value for a key and is asked, step by step: unrolled.
/// Source: LinearAttention-27 in the ONNX operator reference; Yang et al., "Gated delta networks", 2024.
Results linear_attention(OnnxNode& n) {
  const int64_t heads = n.integer("q_num_heads", 0), groups = n.integer("kv_num_heads", 0);
  if (heads < 1 || groups < 1 || heads % groups != 0) n.invalid(fmt::format("{} heads are no multiple of {} groups", heads, groups));
  const std::string rule = n.text("update_rule", "gated_delta");
  const bool gated = rule == "gated" || rule == "gated_delta", delta = rule == "delta" || rule == "gated_delta";
  if (!gated && !delta && rule != "linear") n.invalid(fmt::format("expected an update_rule such as 'gated_delta', found '{}'", printable(rule.substr(0, 64))));
  const DType t = n.dtype(n.in(0));
  const auto wide = [&](int v) { return n.cast(v, kFloat32); };
  const int q = by_head(n, wide(n.in(0)), heads), k = by_head(n, wide(n.in(1)), groups), v = by_head(n, wide(n.in(2)), groups);
  const int64_t batch = n.shape(q)[0], steps = n.shape(q)[2], size = n.shape(q)[3], values = n.shape(v)[3];
  if (n.shape(k) != Dims{batch, groups, steps, size} || n.shape(v)[0] != batch || n.shape(v)[2] != steps)
    n.invalid(fmt::format("queries {}, keys {} and values {} do not fit together", shape_text(n.shape(q)), shape_text(n.shape(k)), shape_text(n.shape(v))));
  if (steps > onnx_limits::kUnrolled) n.unsupported(fmt::format("{} steps (at most {} are unrolled)", steps, onnx_limits::kUnrolled));
  const int decay = gated ? n.emit("exp", {by_head(n, wide(n.in(4)), groups)}) : -1;
  const int beta = delta ? by_head(n, wide(n.in(5)), n.shape(n.in(5)).back()) : -1;
  const double scale = n.real("scale", 0) != 0 ? n.real("scale", 0) : 1 / std::sqrt(static_cast<double>(size));
  int state = n.has(3) ? wide(n.in(3)) : n.filled(kFloat32, {batch, groups, size, values}, 0);
  if (n.shape(state) != Dims{batch, groups, size, values}) n.invalid(fmt::format("a past state of shape {}", shape_text(n.shape(state))));
  std::vector<int> rows;
  for (int64_t i = 0; i < steps; ++i) {
    const auto row = [&](int x) { return n.slice(x, 2, i, 1); };                                               // [batch, heads, 1, size]
    const auto column = [&](int x) { return n.reshape(row(x), {batch, groups, n.shape(x)[3], 1}); };  // [batch, heads, size, 1]
    if (gated) state = n.binary("mul", state, column(decay));
    int value = row(v);
    if (delta) value = n.binary("mul", row(beta), n.binary("sub", value, n.binary("matmul", row(k), state)));
    state = n.binary("add", state, n.binary("mul", column(k), value));
    const int asked = n.reshape(n.with_scalar("mul", row(q), scale), {batch, groups, heads / groups, size});
    rows.push_back(n.reshape(n.binary("matmul", asked, state), {batch, 1, heads * values}));
  }
  return {n.cast(n.concat(rows, 1), t), n.cast(state, n.has(3) ? n.dtype(n.in(3)) : t)};
}

/// A depthwise convolution over what came before, which hands on the last elements. Source: CausalConvWithState-27 in the ONNX operator reference.
Results causal_conv_with_state(OnnxNode& n) {
  const int x = n.in(0), w = n.in(1);
  const Dims s = n.shape(x), k = n.shape(w);
  if (s.size() != 3 || k.size() != 3 || k[0] != s[1] || k[1] != 1) n.invalid(fmt::format("a weight {} does not fit data {}", shape_text(k), shape_text(s)));
  const std::string activation = n.text("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    n.invalid(fmt::format("expected activation 'none', 'silu' or 'swish', found '{}'", printable(activation.substr(0, 64))));
  const int64_t before = k[2] - 1;
  const int past = n.has(3) ? n.in(3) : n.filled(n.dtype(x), {s[0], s[1], before}, 0);
  const int whole = n.concat({past, x}, 2);
  std::vector<int> operands{whole, w};
  if (n.has(2)) operands.push_back(n.in(2));
  int y = n.emit("conv1d", operands, attrs({{"groups", s[1]}}));
  if (activation != "none") y = n.emit("silu", {y});
  return {y, n.slice(whole, 2, n.shape(whole)[2] - before, before)};
}

constexpr OnnxOp kStateOps[] = {{"CausalConvWithState", causal_conv_with_state}, {"LinearAttention", linear_attention}};

}  // namespace

std::span<const OnnxOp> onnx_ops_state() { return kStateOps; }

}  // namespace tw::frontends
