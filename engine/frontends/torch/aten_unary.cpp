// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "engine/frontends/torch/aten.h"

namespace tw::frontends {

namespace {

template <size_t kLength>
struct OpName {
  char text[kLength];
  constexpr OpName(const char (&s)[kLength]) {
    for (size_t i = 0; i < kLength; ++i) text[i] = s[i];
  }
};

/// Functions of the reals give floats for integers too.
int real_operand(TorchNode& n, const char* name = "self") {
  const int v = n.tensor(name);
  return n.dtype(v).is_float() ? v : n.cast(v, kFloat32);
}
Term real_term(TorchNode& n) { return {&n, real_operand(n)}; }

template <OpName kOurs>
TorchResults real(TorchNode& n) {
  return n.one(n.emit(kOurs.text, {real_operand(n)}));
}
template <OpName kOurs>
TorchResults plain(TorchNode& n) {
  return n.one(n.emit(kOurs.text, {n.tensor("self")}));
}
/// Integers are whole already.
template <OpName kOurs>
TorchResults rounded(TorchNode& n) {
  const int v = n.tensor("self");
  if (!n.dtype(v).is_float()) return n.one(v);
  const auto digits = n.integer("decimals", 0);
  if (digits == 0) return n.one(n.emit(kOurs.text, {v}));
  const double scale = std::pow(10.0, static_cast<double>(digits));
  return n.one(n.with_scalar("div", n.emit(kOurs.text, {n.with_scalar("mul", v, scale)}), scale));
}
template <OpName kOurs>
TorchResults test(TorchNode& n) {
  const int v = n.tensor("self");
  return n.one(n.dtype(v).is_float() ? n.emit(kOurs.text, {v}) : n.filled(kBool, n.shape(v), 0));
}

/// Whether an element is the infinity of one sign.
template <bool kPositive>
TorchResults is_infinity(TorchNode& n) {
  const int v = n.tensor("self");
  if (!n.dtype(v).is_float()) return n.one(n.filled(kBool, n.shape(v), 0));
  return n.one(n.emit("isinf", {v}, attrs({{kPositive ? "detect_negative" : "detect_positive", int64_t{0}}})));
}

TorchResults same(TorchNode& n) { return n.view("self", {ViewStep::Kind::reshape, n.shape(n.tensor("self"))}); }
/// A copy: what is written to one is not seen in the other.
TorchResults copied(TorchNode& n) { return n.one(n.tensor("self")); }

TorchResults neg(TorchNode& n) { return n.one(n.emit("neg", {n.tensor("self")})); }
TorchResults logical_not(TorchNode& n) { return n.one(n.emit("not", {n.cast(n.tensor("self"), kBool)})); }
TorchResults bitwise_not(TorchNode& n) {
  const int v = n.tensor("self");
  return n.one(n.emit(n.dtype(v).is_bool() ? "not" : "bitwise_not", {v}));
}
TorchResults is_finite(TorchNode& n) {
  const int v = n.tensor("self");
  if (!n.dtype(v).is_float()) return n.one(n.filled(kBool, n.shape(v), 1));
  return n.one(n.emit("not", {n.binary("or", n.emit("isnan", {v}), n.emit("isinf", {v}))}));
}
TorchResults log_base(TorchNode& n, double base) { return n.one(n.with_scalar("mul", n.emit("log", {real_operand(n)}), 1 / std::log(base))); }
TorchResults log2(TorchNode& n) { return log_base(n, 2); }
TorchResults log10(TorchNode& n) { return log_base(n, 10); }
/// Near 0 the sum drops digits of x: there it is the series of 2 artanh(x / (2 + x)), which converges fast. Source: Abramowitz and Stegun, 4.1.27.
TorchResults log1p(TorchNode& n) {
  const Term x = real_term(n), s = x.with("div", x + 2), square = s * s;
  const Term series = s * ((((square * (2.0 / 9) + 2.0 / 7) * square + 2.0 / 5) * square + 2.0 / 3) * square + 2.0);
  return n.one(choose(x.apply("abs").with("less", 0.25), series, (x + 1).apply("log")).v);
}
/// 2 t / (1 - t) with t = tanh(x / 2), which cancels nothing near 0. Source: Abramowitz and Stegun, 4.5.
TorchResults expm1(TorchNode& n) {
  const Term x = real_term(n), t = (x * 0.5).apply("tanh"), close = (t * 2).with("div", (t * -1) + 1);
  return n.one(choose(x.apply("abs").with("less", 0.5), close, x.apply("exp") - 1).v);
}
TorchResults exp2(TorchNode& n) { return n.one((real_term(n) * std::numbers::ln2).apply("exp").v); }
TorchResults erfc(TorchNode& n) { return n.one(((real_term(n).apply("erf") * -1) + 1).v); }
TorchResults logit(TorchNode& n) {
  Term x = real_term(n);
  if (n.has("eps")) x = x.clipped(n.real("eps", 0), 1 - n.real("eps", 0));
  return n.one(x.with("div", (x * -1) + 1).apply("log").v);
}
TorchResults frac(TorchNode& n) {
  const Term x = real_term(n);
  return n.one((x - x.apply("trunc")).v);
}
TorchResults nan_to_num(TorchNode& n) {
  const int v = n.tensor("self");
  if (!n.dtype(v).is_float()) return n.one(v);
  const DType t = n.dtype(v);
  const double largest = t == kFloat16 ? 65504 : t == kBFloat16 ? 3.3895313892515355e38 : t == kFloat32 ? 3.4028234663852886e38 : 1.7976931348623157e308;
  int out = n.choose(n.emit("isnan", {v}), n.scalar(t, n.real("nan", 0)), v);
  out = n.choose(n.emit("isinf", {out}, attrs({{"detect_negative", int64_t{0}}})), n.scalar(t, n.real("posinf", largest)), out);
  return n.one(n.choose(n.emit("isinf", {out}, attrs({{"detect_positive", int64_t{0}}})), n.scalar(t, n.real("neginf", -largest)), out));
}

// ---- Activations

TorchResults gelu(TorchNode& n) { return n.one(n.emit("gelu", {n.tensor("self")}, attrs({{"approximate", n.text("approximate", "none")}}))); }
TorchResults leaky_relu(TorchNode& n) { return n.one(n.emit("leaky_relu", {n.tensor("self")}, attrs({{"alpha", n.real("negative_slope", 0.01)}}))); }
/// Outside of training its slope is the middle of the two.
TorchResults rrelu(TorchNode& n) {
  if (n.boolean("training", false)) n.unsupported("training mode: export the model after model.eval()");
  return n.one(n.emit("leaky_relu", {n.tensor("self")}, attrs({{"alpha", (n.real("lower", 1.0 / 8) + n.real("upper", 1.0 / 3)) / 2}})));
}
TorchResults elu(TorchNode& n) {
  const double scale = n.real("scale", 1), inner = n.real("input_scale", 1);
  if (inner != 1) n.unsupported(fmt::format("an input_scale of {}", inner));
  const int y = n.emit("elu", {n.tensor("self")}, attrs({{"alpha", n.real("alpha", 1)}}));
  return n.one(scale == 1 ? y : n.with_scalar("mul", y, scale));
}
TorchResults selu(TorchNode& n) { return n.one(n.emit("selu", {n.tensor("self")})); }
TorchResults celu(TorchNode& n) { return n.one(n.emit("celu", {n.tensor("self")}, attrs({{"alpha", n.real("alpha", 1)}}))); }
TorchResults hardtanh(TorchNode& n) {
  return n.one(n.emit("clip", {n.tensor("self")}, attrs({{"min", n.real("min_val", -1)}, {"max", n.real("max_val", 1)}})));
}
TorchResults relu6(TorchNode& n) { return n.one(n.emit("clip", {n.tensor("self")}, attrs({{"min", 0.0}, {"max", 6.0}}))); }
TorchResults hardsigmoid(TorchNode& n) { return n.one(n.emit("hard_sigmoid", {n.tensor("self")}, attrs({{"alpha", 1.0 / 6}, {"beta", 0.5}}))); }
TorchResults softplus(TorchNode& n) {
  const Term x{&n, n.tensor("self")};
  const double beta = n.real("beta", 1), threshold = n.real("threshold", 20);
  const Term scaled = beta == 1 ? x : x * beta, y = beta == 1 ? scaled.apply("softplus") : scaled.apply("softplus") * (1 / beta);
  return n.one(choose(scaled.with("greater", threshold), x, y).v);
}
TorchResults log_sigmoid(TorchNode& n) { return n.one(n.emit("neg", {n.emit("softplus", {n.emit("neg", {n.tensor("self")})})})); }
TorchResults threshold(TorchNode& n) {
  const int x = n.tensor("self");
  return n.one(n.choose(n.with_scalar("greater", x, n.real("threshold", 0)), x, n.scalar(n.dtype(x), n.real("value", 0))));
}
TorchResults softshrink(TorchNode& n) {
  const double lambda = n.real("lambd", 0.5);
  return n.one(n.emit("shrink", {n.tensor("self")}, attrs({{"lambd", lambda}, {"bias", lambda}})));
}
TorchResults hardshrink(TorchNode& n) { return n.one(n.emit("shrink", {n.tensor("self")}, attrs({{"lambd", n.real("lambd", 0.5)}, {"bias", 0.0}}))); }
TorchResults glu(TorchNode& n) {
  const int x = n.tensor("self");
  const int64_t axis = n.axis(n.integer("dim", -1), n.rank(x)), half = n.shape(x)[static_cast<size_t>(axis)] / 2;
  return n.one(n.binary("mul", n.slice(x, axis, 0, half), n.emit("sigmoid", {n.slice(x, axis, half, half)})));
}
TorchResults prelu(TorchNode& n) {
  const int x = n.tensor("self");
  int slope = n.tensor("weight");
  if (n.type(slope).num_elements() > 1 && n.rank(x) > 1) {
    Dims shape(static_cast<size_t>(n.rank(x)), 1);
    shape[1] = n.type(slope).num_elements();
    slope = n.reshape(slope, shape);
  }
  return n.one(n.binary("prelu", x, slope));
}

/// Limits are numbers or tensors.
TorchResults clamp(TorchNode& n) {
  int v = n.tensor("self");
  const DType t = n.result_type();
  v = n.cast(v, t);
  graph::Attrs a;
  if (n.has("min") && !n.is_tensor("min")) a.values["min"] = n.real("min", 0);
  if (n.has("max") && !n.is_tensor("max")) a.values["max"] = n.real("max", 0);
  if (!a.values.empty()) v = n.emit("clip", {v}, a);
  if (n.is_tensor("min")) v = n.binary("max", v, n.cast(n.tensor("min"), t));
  if (n.is_tensor("max")) v = n.binary("min", v, n.cast(n.tensor("max"), t));
  return n.one(v);
}

/// At inference nothing is dropped.
TorchResults dropout(TorchNode& n) {
  if (n.boolean("train", false) && n.real("p", 0.5) != 0) n.unsupported("random dropout in training mode: export the model after model.eval()");
  return n.one(n.tensor(n.has("input") ? "input" : "self"));
}
TorchResults native_dropout(TorchNode& n) {
  if (n.has("train") && n.boolean("train", false) && n.real("p", 0.5) != 0)
    n.unsupported("random dropout in training mode: export the model after model.eval()");
  const int x = n.tensor("input");
  return {{.value = x}, {.value = n.filled(kBool, n.shape(x), 1)}};
}

// ---- Other types

TorchResults to_copy(TorchNode& n) {
  const int v = n.tensor("self");
  return n.one(n.cast(v, n.has_result() ? n.result_type() : n.type_named("dtype", n.dtype(v))));
}
/// The tensor itself where nothing changes.
TorchResults to_type(TorchNode& n) {
  const int v = n.tensor("self");
  const DType t = n.has_result() ? n.result_type() : n.type_named("dtype", n.dtype(v));
  return t == n.dtype(v) && !n.boolean("copy", false) ? same(n) : to_copy(n);
}

constexpr AtenOp kAtenUnary[] = {
    {"aten._to_copy", to_copy},
    {"aten.abs", plain<"abs">},
    {"aten.absolute", plain<"abs">},
    {"aten.acos", real<"acos">},
    {"aten.acosh", real<"acosh">},
    {"aten.alias", same},
    {"aten.alpha_dropout", dropout},
    {"aten.arccos", real<"acos">},
    {"aten.arccosh", real<"acosh">},
    {"aten.arcsin", real<"asin">},
    {"aten.arcsinh", real<"asinh">},
    {"aten.arctan", real<"atan">},
    {"aten.arctanh", real<"atanh">},
    {"aten.asin", real<"asin">},
    {"aten.asinh", real<"asinh">},
    {"aten.atan", real<"atan">},
    {"aten.atanh", real<"atanh">},
    {"aten.bitwise_not", bitwise_not},
    {"aten.ceil", rounded<"ceil">},
    {"aten.celu", celu},
    {"aten.clamp", clamp},
    {"aten.clamp_max", clamp},
    {"aten.clamp_min", clamp},
    {"aten.clip", clamp},
    {"aten.clone", copied},
    {"aten.cos", real<"cos">},
    {"aten.cosh", real<"cosh">},
    {"aten.detach", same},
    {"aten.detach_", same},
    {"aten.dropout", dropout},
    {"aten.elu", elu},
    {"aten.erf", real<"erf">},
    {"aten.erfc", erfc},
    {"aten.exp", real<"exp">},
    {"aten.exp2", exp2},
    {"aten.expm1", expm1},
    {"aten.feature_alpha_dropout", dropout},
    {"aten.feature_dropout", dropout},
    {"aten.fix", rounded<"trunc">},
    {"aten.floor", rounded<"floor">},
    {"aten.frac", frac},
    {"aten.gelu", gelu},
    {"aten.glu", glu},
    {"aten.hardshrink", hardshrink},
    {"aten.hardsigmoid", hardsigmoid},
    {"aten.hardswish", plain<"hard_swish">},
    {"aten.hardtanh", hardtanh},
    {"aten.isfinite", is_finite},
    {"aten.isinf", test<"isinf">},
    {"aten.isnan", test<"isnan">},
    {"aten.isneginf", is_infinity<false>},
    {"aten.isposinf", is_infinity<true>},
    {"aten.leaky_relu", leaky_relu},
    {"aten.lift_fresh", same},
    {"aten.lift_fresh_copy", copied},
    {"aten.log", real<"log">},
    {"aten.log10", log10},
    {"aten.log1p", log1p},
    {"aten.log2", log2},
    {"aten.log_sigmoid", log_sigmoid},
    {"aten.log_sigmoid_forward", log_sigmoid},
    {"aten.logical_not", logical_not},
    {"aten.logit", logit},
    {"aten.mish", plain<"mish">},
    {"aten.nan_to_num", nan_to_num},
    {"aten.native_dropout", native_dropout},
    {"aten.neg", neg},
    {"aten.negative", neg},
    {"aten.positive", same},
    {"aten.prelu", prelu},
    {"aten.reciprocal", real<"reciprocal">},
    {"aten.relu", plain<"relu">},
    {"aten.relu6", relu6},
    {"aten.round", rounded<"round">},
    {"aten.rrelu", rrelu},
    {"aten.rsqrt", real<"rsqrt">},
    {"aten.selu", selu},
    {"aten.sgn", plain<"sign">},
    {"aten.sigmoid", real<"sigmoid">},
    {"aten.sign", plain<"sign">},
    {"aten.silu", plain<"silu">},
    {"aten.sin", real<"sin">},
    {"aten.sinh", real<"sinh">},
    {"aten.softplus", softplus},
    {"aten.softshrink", softshrink},
    {"aten.special_erf", real<"erf">},
    {"aten.special_erfc", erfc},
    {"aten.special_exp2", exp2},
    {"aten.special_expit", real<"sigmoid">},
    {"aten.special_expm1", expm1},
    {"aten.special_log1p", log1p},
    {"aten.special_logit", logit},
    {"aten.sqrt", real<"sqrt">},
    {"aten.square", plain<"square">},
    {"aten.tan", real<"tan">},
    {"aten.tanh", real<"tanh">},
    {"aten.threshold", threshold},
    {"aten.to", to_type},
    {"aten.trunc", rounded<"trunc">},
    {"aten.type_as", to_type},
};

}  // namespace

std::span<const AtenOp> aten_unary() { return kAtenUnary; }

}  // namespace tw::frontends
