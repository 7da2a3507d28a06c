// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

/// Before opset 13 these functions ran over all dimensions from `axis` (default 1) on, taken together.
Results softmax_like(OnnxNode& n, int (*apply)(OnnxNode&, int x, int64_t axis)) {
  const int x = n.in(0);
  if (n.opset() >= 13) return {apply(n, x, n.axis(n.integer("axis", -1), n.rank(x)))};
  const int64_t axis = n.axis(n.integer("axis", 1), n.rank(x));
  const Dims shape = n.shape(x);
  if (axis + 1 == n.rank(x)) return {apply(n, x, axis)};
  Dims flat{1, 1};
  for (int64_t d = 0; d < n.rank(x); ++d) flat[d < axis ? 0 : 1] *= shape[static_cast<size_t>(d)];
  return {n.reshape(apply(n, n.reshape(x, flat), 1), shape)};
}
Results softmax(OnnxNode& n) {
  return softmax_like(n, [](OnnxNode& m, int x, int64_t axis) { return m.emit("softmax", {x}, attrs({{"axis", axis}})); });
}
Results log_softmax(OnnxNode& n) {
  return softmax_like(n, [](OnnxNode& m, int x, int64_t axis) { return m.emit("log_softmax", {x}, attrs({{"axis", axis}})); });
}

int positions_along(OnnxNode& n, int x, int64_t axis) {
  HostArray a = HostArray::make(kInt64, Dims(static_cast<size_t>(n.rank(x)), 1));
  const int64_t extent = n.shape(x)[static_cast<size_t>(axis)];
  a.shape[static_cast<size_t>(axis)] = extent;
  a.data.resize(static_cast<size_t>(extent) * 8);
  for (int64_t i = 0; i < extent; ++i) a.set_int(i, i);
  return n.constant(std::move(a));
}
/// One at the first maximum, zero elsewhere.
Results hardmax(OnnxNode& n) {
  return softmax_like(n, [](OnnxNode& m, int x, int64_t axis) {
    const int best = m.emit("argmax", {x}, attrs({{"axis", axis}, {"keepdims", int64_t{1}}}));
    return m.cast(m.binary("equal", positions_along(m, x, axis), best), m.dtype(x));
  });
}

/// Statistics of the batch itself, and running ones that follow them.
Results batch_normalization_of_batch(OnnxNode& n) {
  const int x = n.in(0);
  Dims axes, per_channel(static_cast<size_t>(n.rank(x)), 1);
  if (n.rank(x) < 2) n.invalid("expected data of rank 2 or more");
  per_channel[1] = n.shape(x)[1];
  for (int64_t d = 0; d < n.rank(x); ++d)
    if (d != 1) axes.push_back(d);
  const auto mean_of = [&](int v) { return n.emit("reduce_mean", {v}, attrs({{"axes", axes}, {"keepdims", int64_t{1}}})); };
  const auto channels = [&](int i) { return n.reshape(n.cast(n.in(i), n.dtype(x)), per_channel); };
  const int mean = mean_of(x), centred = n.binary("sub", x, mean), variance = mean_of(n.binary("mul", centred, centred));
  const int root = n.emit("sqrt", {n.with_scalar("add", variance, n.real("epsilon", 1e-5))});
  const int y = n.binary("add", n.binary("mul", n.binary("div", centred, root), channels(1)), channels(2));
  const double momentum = n.real("momentum", 0.9);
  const auto running = [&](int i, int now) {
    const int old = n.in(i), fresh = n.cast(n.reshape(now, n.shape(old)), n.dtype(old));
    return n.binary("add", n.with_scalar("mul", old, momentum), n.with_scalar("mul", fresh, 1 - momentum));
  };
  return {y, running(3, mean), running(4, variance)};
}

Results batch_normalization(OnnxNode& n) {
  if (n.integer("training_mode", 0)) return batch_normalization_of_batch(n);
  if (n.opset() < 7 && !n.integer("is_test", 0)) n.unsupported("training mode");
  if (n.opset() < 9 && n.integer("spatial", 1) != 1) n.unsupported("statistics per position (spatial = 0)");
  const int x = n.in(0);
  std::vector<int> inputs{x};
  for (int i = 1; i < 5; ++i) inputs.push_back(n.cast(n.in(i), n.dtype(x)));
  return {n.emit("batch_norm", inputs, attrs({{"epsilon", n.real("epsilon", 1e-5)}}))};
}

Results instance_normalization(OnnxNode& n) { return {n.emit("instance_norm", {n.in(0), n.in(1), n.in(2)}, attrs({{"epsilon", n.real("epsilon", 1e-5)}}))}; }

/// Opset 18 has one scale a group, opset 21 one a channel.
Results group_normalization(OnnxNode& n) {
  const int x = n.in(0);
  if (n.rank(x) < 3) n.invalid("expected data of rank 3 or more");
  const int64_t groups = n.integer("num_groups", 0), channels = n.shape(x)[1];
  if (groups < 1 || channels % groups != 0) n.invalid(fmt::format("{} channels do not divide into {} groups", channels, groups));
  const auto per_channel = [&](int v) {
    if (n.shape(v) != Dims{groups} || groups == channels) return v;
    const int column = n.reshape(v, {groups, 1});
    return n.reshape(n.emit("broadcast_to", {column}, attrs({{"shape", Dims{groups, channels / groups}}})), {channels});
  };
  return {n.emit("instance_norm", {x, per_channel(n.in(1)), per_channel(n.in(2))}, attrs({{"epsilon", n.real("epsilon", 1e-5)}, {"groups", groups}}))};
}

/// The two optional statistics are computed beside the operator when somebody reads them.
Results layer_normalization(OnnxNode& n) {
  const int x = n.in(0);
  const int64_t axis = n.axis(n.integer("axis", -1), n.rank(x));
  const double epsilon = n.real("epsilon", 1e-5);
  std::vector<int> inputs{x, n.in(1)};
  if (n.has(2)) inputs.push_back(n.in(2));
  Results out{n.emit("layer_norm", inputs, attrs({{"axis", axis}, {"epsilon", epsilon}})), -1, -1};
  if (!n.wants_output(1) && !n.wants_output(2)) return out;
  Dims axes;
  for (int64_t d = axis; d < n.rank(x); ++d) axes.push_back(d);
  const graph::Attrs over = attrs({{"axes", axes}});
  out[1] = n.emit("reduce_mean", {x}, over);
  const int centred = n.binary("sub", x, out[1]);
  const int variance = n.emit("reduce_mean", {n.emit("square", {centred})}, over);
  out[2] = n.emit("reciprocal", {n.emit("sqrt", {n.with_scalar("add", variance, epsilon)})});
  return out;
}

/// In float32 unless `stash_type` says otherwise, and back before the scale.
Results rms_normalization(OnnxNode& n) {
  const int x = n.in(0);
  auto stash = dtype_of_onnx(n.integer("stash_type", onnx::TensorProto::FLOAT));
  if (!stash || !stash->is_float()) n.unsupported("statistics in element type " + onnx_dtype_name(n.integer("stash_type", 0)));
  const graph::Attrs a = attrs({{"axis", n.axis(n.integer("axis", -1), n.rank(x))}, {"epsilon", n.real("epsilon", 1e-5)}});
  const DType t = n.dtype(x), wide = stash->bits > t.bits ? *stash : t;
  if (wide == t && n.dtype(n.in(1)) == t) return {n.emit("rms_norm", {x, n.in(1)}, a)};
  const int normal = n.cast(n.emit("rms_norm", {n.cast(x, wide), n.scalar(wide, 1)}, a), t);
  return {n.binary("mul", n.cast(normal, n.dtype(n.in(1))), n.in(1))};
}

/// What a layer adds to its operand is added before normalising, and handed on. `gamma`, `beta`, `bias`: operands; beta is -1 where there is none.
Results skip_normalization(OnnxNode& n, const char* op, int beta, int bias, double epsilon) {
  if (n.wants_output(1) || n.wants_output(2)) n.unsupported("its statistics as outputs");
  int sum = n.binary("add", n.in(0), n.in(1));
  if (n.has(bias)) sum = n.binary("add", sum, n.in(bias));
  std::vector<int> inputs{sum, n.in(2)};
  if (beta >= 0 && n.has(beta)) inputs.push_back(n.in(beta));
  return {n.emit(op, inputs, attrs({{"axis", n.rank(sum) - 1}, {"epsilon", n.real("epsilon", epsilon)}})), kAbsent, kAbsent, sum};
}
Results skip_layer_normalization(OnnxNode& n) { return skip_normalization(n, "layer_norm", 3, 4, 1e-12); }
Results skip_simplified_layer_normalization(OnnxNode& n) { return skip_normalization(n, "rms_norm", -1, 3, 1e-12); }

/// Embeddings of words, positions and segments, added and normalised; the number of words that a mask has, and the sum.
Results embed_layer_normalization(OnnxNode& n) {
  const int words = n.in(0);
  if (n.rank(words) != 2) n.invalid(fmt::format("expected words of rank 2, found {}", shape_text(n.shape(words))));
  const auto looked_up = [&n](int table, int at) { return n.emit("gather", {table, at}, attrs({{"axis", int64_t{0}}})); };
  const int positions = n.has(8) ? n.in(8) : n.iota(n.shape(words)[1], {1, n.shape(words)[1]});
  int sum = n.binary("add", looked_up(n.in(2), words), looked_up(n.in(3), positions));
  if (n.has(1) && n.has(4)) sum = n.binary("add", sum, looked_up(n.in(4), n.in(1)));
  const int y = n.emit("layer_norm", {sum, n.in(5), n.in(6)}, attrs({{"axis", int64_t{2}}, {"epsilon", n.real("epsilon", 1e-12)}}));
  const int counted = n.has(7) ? n.reduce("reduce_sum", n.cast(n.in(7), kInt32), {1}, false) : n.filled(kInt32, {n.shape(words)[0]}, 0);
  return {y, counted, sum};
}

/// (x - mean) / (deviation + 1e-9) over `axes`, the deviation as sqrt(E[x^2] - E[x]^2). Source: MeanVarianceNormalization in the ONNX reference.
Results mean_variance_normalization(OnnxNode& n) {
  const int x = n.in(0);
  const graph::Attrs over = attrs({{"axes", n.axes(n.integers("axes", {0, 2, 3}), n.rank(x))}});
  const int mean = n.emit("reduce_mean", {x}, over);
  const int centred = n.binary("sub", x, mean);
  const int deviation = n.emit("sqrt", {n.emit("reduce_mean", {n.emit("square", {centred})}, over)});
  return {n.binary("div", centred, n.with_scalar("add", deviation, 1e-9))};
}

Results lp_normalization(OnnxNode& n) {
  const int64_t p = n.integer("p", 2);
  if (p != 1 && p != 2) n.unsupported(fmt::format("norms other than 1 and 2, found {}", p));
  const int norm = n.emit(p == 1 ? "reduce_l1" : "reduce_l2", {n.in(0)}, attrs({{"axes", Dims{n.axis(n.integer("axis", -1), n.rank(n.in(0)))}}}));
  return {n.choose(n.with_scalar("equal", norm, 0), n.scalar(n.dtype(norm), 0), n.binary("div", n.in(0), norm))};  // nothing to normalise stays
}

Results lrn(OnnxNode& n) {
  return {n.emit("lrn", {n.in(0)},
                 attrs({{"size", n.integer("size", 0)}, {"alpha", n.real("alpha", 1e-4)}, {"beta", n.real("beta", 0.75)}, {"bias", n.real("bias", 1)}}))};
}

constexpr OnnxOp kNormOps[] = {
    {"BatchNormalization", batch_normalization},
    {"EmbedLayerNormalization", embed_layer_normalization, Narrow::refused, kRuntimeDomain},
    {"GroupNormalization", group_normalization},
    {"Hardmax", hardmax},
    {"InstanceNormalization", instance_normalization},
    {"LRN", lrn},
    {"LayerNormalization", layer_normalization},
    {"LogSoftmax", log_softmax},
    {"LpNormalization", lp_normalization},
    {"MeanVarianceNormalization", mean_variance_normalization},
    {"RMSNormalization", rms_normalization},
    {"SimplifiedLayerNormalization", rms_normalization},  // of ONNX Runtime, in ONNX's domain all the same
    {"SkipLayerNormalization", skip_layer_normalization, Narrow::refused, kRuntimeDomain},
    {"SkipSimplifiedLayerNormalization", skip_simplified_layer_normalization, Narrow::refused, kRuntimeDomain},
    {"Softmax", softmax},
};

}  // namespace

std::span<const OnnxOp> onnx_ops_norm() { return kNormOps; }

}  // namespace tw::frontends
