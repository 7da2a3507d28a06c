// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/torch/aten.h"

namespace tw::frontends {

namespace {

double epsilon_of(TorchNode& n) { return n.real("eps", 1e-5); }

/// A parameter of the channels, or what stands in for it.
int parameter(TorchNode& n, const char* name, int64_t channels, DType t, double otherwise) {
  return n.has(name) ? n.cast(n.tensor(name), t) : n.filled(t, {channels}, otherwise);
}

int normalised_batch(TorchNode& n) {
  const int x = n.tensor("input");
  if (n.rank(x) < 2) n.invalid(fmt::format("expected data of rank 2 or more, found {}", shape_text(n.shape(x))));
  const int64_t channels = n.shape(x)[1];
  const DType t = n.dtype(x);
  if (!n.has("running_mean") || !n.has("running_var")) n.unsupported("statistics of the batch itself: export the model after model.eval()");
  return n.emit("batch_norm",
                {x, parameter(n, "weight", channels, t, 1), parameter(n, "bias", channels, t, 0), n.cast(n.tensor("running_mean"), t),
                 n.cast(n.tensor("running_var"), t)},
                attrs({{"epsilon", epsilon_of(n)}}));
}
/// By its own statistics, as weights are standardised, and layers that keep none work after model.eval() too.
int normalised_by_itself(TorchNode& n) {
  const int x = n.tensor("input");
  if (n.rank(x) < 2) n.invalid(fmt::format("expected data of rank 2 or more, found {}", shape_text(n.shape(x))));
  const int64_t channels = n.shape(x)[1];
  Dims axes{0}, along(static_cast<size_t>(n.rank(x)), 1);
  for (int64_t d = 2; d < n.rank(x); ++d) axes.push_back(d);
  along[1] = channels;
  const int centred = n.binary("sub", x, n.reduce("reduce_mean", x, axes, true));
  const int variance = n.reduce("reduce_mean", n.emit("square", {centred}), axes, true);
  const int whitened = n.binary("mul", centred, n.emit("rsqrt", {n.with_scalar("add", variance, epsilon_of(n))}));
  const DType t = n.dtype(x);
  return n.binary("add", n.binary("mul", whitened, n.reshape(parameter(n, "weight", channels, t, 1), along)),
                  n.reshape(parameter(n, "bias", channels, t, 0), along));
}
TorchResults batch_norm(TorchNode& n) {
  if (n.boolean("training", n.boolean("train", false))) {
    if (n.has("running_mean") || n.has("running_var")) n.unsupported("training mode: export the model after model.eval()");
    return n.one(normalised_by_itself(n));
  }
  return n.one(normalised_batch(n));
}
/// With statistics that only training reads.
TorchResults native_batch_norm(TorchNode& n) {
  if (n.boolean("training", false)) n.unsupported("training mode: export the model after model.eval()");
  const int none = n.constant(HostArray::make(kFloat32, {0}));
  return {{.value = normalised_batch(n)}, {.value = none}, {.value = none}};
}

/// Over the dimensions from `axis` on; without parameters they are ones and zeros.
int layer(TorchNode& n, int x, const Dims& shape) {
  const int64_t axis = n.rank(x) - static_cast<int64_t>(shape.size());
  if (axis < 0) n.invalid(fmt::format("normalising {} over {}", shape_text(n.shape(x)), shape_text(shape)));
  std::vector<int> operands{x, n.has("weight") ? n.tensor("weight") : n.filled(n.dtype(x), shape, 1)};
  if (n.has("bias")) operands.push_back(n.tensor("bias"));
  for (int& v : operands) v = n.cast(v, n.dtype(x));
  return n.emit("layer_norm", operands, attrs({{"axis", axis}, {"epsilon", epsilon_of(n)}}));
}
TorchResults layer_norm(TorchNode& n) { return n.one(layer(n, n.tensor("input"), n.integers("normalized_shape"))); }
TorchResults native_layer_norm(TorchNode& n) {
  TorchResults out = layer_norm(n);
  if (!n.has_result(1) && !n.has_result(2)) return {out[0], {}, {}};
  const int x = n.tensor("input");
  Dims axes;
  for (int64_t d = n.rank(x) - static_cast<int64_t>(n.integers("normalized_shape").size()); d < n.rank(x); ++d) axes.push_back(d);
  const int mean = n.reduce("reduce_mean", x, axes, true);
  const int variance = n.reduce("reduce_mean", n.emit("square", {n.binary("sub", x, mean)}), axes, true);
  return {out[0], {.value = mean}, {.value = n.emit("rsqrt", {n.with_scalar("add", variance, epsilon_of(n))})}};
}
TorchResults rms_norm(TorchNode& n) {
  const int x = n.tensor("input");
  const Dims shape = n.integers("normalized_shape");
  const int64_t axis = n.rank(x) - static_cast<int64_t>(shape.size());
  if (axis < 0) n.invalid(fmt::format("normalising {} over {}", shape_text(n.shape(x)), shape_text(shape)));
  const int weight = n.has("weight") ? n.cast(n.tensor("weight"), n.dtype(x)) : n.scalar(n.dtype(x), 1);
  const double epsilon = n.real("eps", n.dtype(x) == kFloat64    ? 2.220446049250313e-16
                                       : n.dtype(x) == kFloat16  ? 9.765625e-4
                                       : n.dtype(x) == kBFloat16 ? 7.8125e-3
                                                                 : 1.1920928955078125e-07);
  return n.one(n.emit("rms_norm", {x, weight}, attrs({{"axis", axis}, {"epsilon", epsilon}})));
}

int grouped(TorchNode& n, int x, int64_t groups) {
  if (n.rank(x) < 2) n.invalid(fmt::format("expected data of rank 2 or more, found {}", shape_text(n.shape(x))));
  const Dims s = n.shape(x);
  if (groups < 1 || s[1] % groups != 0) n.invalid(fmt::format("{} channels do not divide into {} groups", s[1], groups));
  const DType t = n.dtype(x);
  const int weight = parameter(n, "weight", s[1], t, 1), bias = parameter(n, "bias", s[1], t, 0);
  const bool flat = s.size() == 2;
  if (flat) x = n.reshape(x, {s[0], s[1], 1});
  return n.reshape(n.emit("instance_norm", {x, weight, bias}, attrs({{"epsilon", epsilon_of(n)}, {"groups", groups}})), s);
}
TorchResults group_norm(TorchNode& n) { return n.one(grouped(n, n.tensor("input"), n.integer("num_groups", 1))); }
TorchResults native_group_norm(TorchNode& n) { return {{.value = grouped(n, n.tensor("input"), n.integer("group", 1))}, {}, {}}; }
TorchResults instance_norm(TorchNode& n) {
  const int x = n.tensor("input");
  if (!n.boolean("use_input_stats", true)) return n.one(normalised_batch(n));
  return n.one(grouped(n, x, n.rank(x) > 1 ? n.shape(x)[1] : 1));
}

TorchResults softmax_like(TorchNode& n, const char* ours) {
  const int x = n.cast(n.tensor("self"), n.has_result() ? n.result_type() : n.dtype(n.tensor("self")));
  if (n.rank(x) == 0) return n.one(n.scalar(n.dtype(x), std::string_view(ours) == "softmax" ? 1 : 0));
  return n.one(n.emit(ours, {x}, attrs({{"axis", n.axis(n.integer("dim", -1), n.rank(x))}})));
}
TorchResults softmax(TorchNode& n) { return softmax_like(n, "softmax"); }
TorchResults log_softmax(TorchNode& n) { return softmax_like(n, "log_softmax"); }

TorchResults cosine_similarity(TorchNode& n) {
  const int a = n.tensor("x1"), b = n.tensor("x2");
  const Dims axes{n.axis(n.integer("dim", 1), n.rank(a))};
  const double epsilon = n.real("eps", 1e-8);
  const auto length = [&](int v) { return n.with_scalar("max", n.reduce("reduce_l2", v, axes, true), epsilon); };
  return n.one(n.reduce("reduce_sum", n.binary("mul", n.binary("div", a, length(a)), n.binary("div", b, length(b))), axes, false));
}

/// A weight as a direction and its length: v scaled to length g along every dimension but one.
TorchResults weight_norm(TorchNode& n) {
  const int v = n.tensor("v");
  const int64_t kept = n.axis(n.integer("dim", 0), n.rank(v));
  Dims others;
  for (int64_t d = 0; d < n.rank(v); ++d)
    if (d != kept) others.push_back(d);
  return n.one(n.binary("mul", v, n.binary("div", n.tensor("g"), n.reduce("reduce_l2", v, others, true))));
}

constexpr AtenOp kAtenNorm[] = {
    {"aten._batch_norm_no_update", native_batch_norm},
    {"aten._log_softmax", log_softmax},
    {"aten._native_batch_norm_legit_no_training", native_batch_norm},
    {"aten._native_batch_norm_legit", batch_norm},
    {"aten._safe_softmax", softmax},
    {"aten._softmax", softmax},
    {"aten._weight_norm", weight_norm},
    {"aten.batch_norm", batch_norm},
    {"aten.cosine_similarity", cosine_similarity},
    {"aten.group_norm", group_norm},
    {"aten.instance_norm", instance_norm},
    {"aten.layer_norm", layer_norm},
    {"aten.log_softmax", log_softmax},
    {"aten.native_batch_norm", native_batch_norm},
    {"aten.native_group_norm", native_group_norm},
    {"aten.native_layer_norm", native_layer_norm},
    {"aten.rms_norm", rms_norm},
    {"aten.softmax", softmax},
    {"aten.special_log_softmax", log_softmax},
    {"aten.special_softmax", softmax},
};

}  // namespace

std::span<const AtenOp> aten_norm() { return kAtenNorm; }

}  // namespace tw::frontends
