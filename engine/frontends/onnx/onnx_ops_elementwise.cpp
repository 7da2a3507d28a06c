// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

/// The second operand before opset 7, where broadcasting had to be asked for and could start at any axis.
int aligned(OnnxNode& n, int a, int b) {
  if (n.opset() >= 7) return b;
  if (!n.integer("broadcast", 0)) {
    if (n.shape(a) != n.shape(b)) n.invalid(fmt::format("shapes {} and {} differ and broadcasting is off", shape_text(n.shape(a)), shape_text(n.shape(b))));
    return b;
  }
  if (!n.has_attr("axis")) return b;
  const int64_t trailing = n.rank(a) - n.axis(n.integer("axis", 0), n.rank(a)) - n.rank(b);
  if (trailing < 0) n.invalid(fmt::format("shape {} does not start at axis {} of {}", shape_text(n.shape(b)), n.integer("axis", 0), shape_text(n.shape(a))));
  Dims shape = n.shape(b);
  shape.insert(shape.end(), static_cast<size_t>(trailing), 1);
  return n.reshape(b, shape);
}

template <size_t kLength>
struct Name {
  char text[kLength];
  constexpr Name(const char (&s)[kLength]) {
    for (size_t i = 0; i < kLength; ++i) text[i] = s[i];
  }
};
template <Name kOurs>
Results unary(OnnxNode& n) {
  return {n.emit(kOurs.text, {n.in(0)})};
}
template <Name kOurs>
Results binary(OnnxNode& n) {
  return {n.binary(kOurs.text, n.in(0), aligned(n, n.in(0), n.in(1)))};
}

/// Real attributes handed on where present; our operators have ONNX's defaults.
template <Name kOurs>
Results with_reals(OnnxNode& n) {
  graph::Attrs a;
  for (const char* name : {"alpha", "beta", "gamma", "lambd", "bias"})
    if (n.has_attr(name)) a.values[name] = n.real(name, 0);
  return {n.emit(kOurs.text, {n.in(0)}, a)};
}

template <Name kOurs>
Results variadic(OnnxNode& n) {
  const auto inputs = n.all_inputs();
  int v = inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) v = n.binary(kOurs.text, v, inputs[i]);
  return {v};
}
Results mean(OnnxNode& n) {
  const int sum = variadic<"add">(n)[0];
  return {n.num_inputs() == 1 ? sum : n.with_scalar("div", sum, n.num_inputs())};
}

Results mod(OnnxNode& n) { return {n.binary(n.integer("fmod", 0) ? "fmod" : "mod", n.in(0), n.in(1))}; }

/// The exponent's type may differ; the result has the base's.
Results pow(OnnxNode& n) {
  const int base = n.in(0), exponent = aligned(n, base, n.in(1));
  const DType a = n.dtype(base), b = n.dtype(exponent);
  if (a.is_float() || !b.is_float()) return {n.binary("pow", base, n.cast(exponent, a))};
  return {n.cast(n.binary("pow", n.cast(base, b), exponent), a)};
}

/// Before opset 7 one slope a channel, without the trailing dimensions that broadcasting needs.
Results prelu(OnnxNode& n) {
  int slope = n.in(1);
  if (n.opset() < 7 && n.rank(slope) == 1 && n.shape(slope)[0] > 1) {
    Dims shape(static_cast<size_t>(std::max<int64_t>(1, n.rank(n.in(0)) - 1)), 1);
    shape[0] = n.shape(slope)[0];
    slope = n.reshape(slope, shape);
  }
  return {n.binary("prelu", n.in(0), slope)};
}

Results bit_shift(OnnxNode& n) {
  const std::string direction = n.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") n.invalid("expected direction 'LEFT' or 'RIGHT'");
  return {n.binary(direction == "LEFT" ? "shift_left" : "shift_right", n.in(0), n.in(1))};
}

/// x * sigmoid(alpha * x)
int swish_of(OnnxNode& n, int x) {
  const double alpha = n.real("alpha", 1);
  return alpha == 1 ? n.emit("silu", {x}) : n.binary("mul", x, n.emit("sigmoid", {n.with_scalar("mul", x, alpha)}));
}
Results swish(OnnxNode& n) { return {swish_of(n, n.in(0))}; }
Results swiglu(OnnxNode& n) { return {n.binary("mul", swish_of(n, n.in(0)), n.in(1))}; }

Results is_inf(OnnxNode& n) {
  return {n.emit("isinf", {n.in(0)}, attrs({{"detect_positive", n.integer("detect_positive", 1)}, {"detect_negative", n.integer("detect_negative", 1)}}))};
}

Results gelu(OnnxNode& n) { return {n.emit("gelu", {n.in(0)}, attrs({{"approximate", n.text("approximate", "none")}}))}; }

/// With a bias that may be absent.
int biased(OnnxNode& n) { return n.has(1) ? n.binary("add", n.in(0), n.in(1)) : n.in(0); }
Results bias_gelu(OnnxNode& n) { return {n.emit("gelu", {biased(n)}, attrs({{"approximate", std::string("none")}}))}; }
Results fast_gelu(OnnxNode& n) { return {n.emit("gelu", {biased(n)}, attrs({{"approximate", std::string("tanh")}}))}; }
Results quick_gelu(OnnxNode& n) {
  const int x = n.in(0);
  return {n.binary("mul", x, n.emit("sigmoid", {n.with_scalar("mul", x, n.real("alpha", 1.702))}))};
}

/// Whether a limit can be an attribute without changing its value.
bool exact_as_double(const OnnxNode& n, int v) {
  const HostArray* c = n.constant_of(v);
  return c && c->num_elements() == 1 && (c->dtype.bytes() < 8 || c->dtype.is_float());
}

/// Limits are attributes before opset 11 and operands since; constant ones become attributes.
Results clip(OnnxNode& n) {
  int v = n.in(0);
  graph::Attrs a;
  if (n.opset() < 11) {
    for (const char* name : {"min", "max"})
      if (n.has_attr(name)) a.values[name] = n.real(name, 0);
    return {a.values.empty() ? n.emit("identity", {v}) : n.emit("clip", {v}, a)};
  }
  for (int i = 1; i <= 2; ++i)
    if (n.has(i) && exact_as_double(n, n.in(i))) a.values[i == 1 ? "min" : "max"] = n.constant_of(n.in(i))->get(0);
  const bool all = (!n.has(1) || a.has("min")) && (!n.has(2) || a.has("max"));
  if (all) return {a.values.empty() ? n.emit("identity", {v}) : n.emit("clip", {v}, a)};
  if (n.has(1)) v = n.binary("max", v, n.in(1));
  if (n.has(2)) v = n.binary("min", v, n.in(2));
  return {v};
}

Results where(OnnxNode& n) { return {n.emit("where", {n.in(0), n.in(1), n.in(2)})}; }
/// Whatever it is: sequences and optional values too.
Results identity(OnnxNode& n) {
  if (!n.has(0)) n.invalid("operand 0 is required but absent");
  return {n.any(0)};
}

/// At inference the operand itself, and a mask of ones.
Results dropout(OnnxNode& n) {
  if (n.opset() < 7 && !n.integer("is_test", 0)) n.unsupported("random dropout in training mode");
  if (n.opset() >= 12 && n.has(2) && n.number_input(2, "training_mode") != 0) {
    if (!n.has(1) || n.number_input(1, "ratio") != 0) n.unsupported("random dropout in training mode");
  }
  Results out{n.in(0)};
  if (!n.wants_output(1)) return out;
  HostArray ones = HostArray::make(kBool, n.shape(n.in(0)));
  for (int64_t i = 0; i < ones.num_elements(); ++i) ones.set_int(i, 1);
  out.push_back(n.constant(std::move(ones)));
  return out;
}

constexpr OnnxOp kElementwiseOps[] = {
    {"Abs", unary<"abs">},
    {"Acos", unary<"acos">},
    {"Acosh", unary<"acosh">},
    {"Add", binary<"add">},
    {"And", binary<"and">},
    {"Asin", unary<"asin">},
    {"Asinh", unary<"asinh">},
    {"Atan", unary<"atan">},
    {"Atanh", unary<"atanh">},
    {"BitShift", bit_shift},
    {"BitwiseAnd", binary<"bitwise_and">},
    {"BitwiseNot", unary<"bitwise_not">},
    {"BitwiseOr", binary<"bitwise_or">},
    {"BitwiseXor", binary<"bitwise_xor">},
    {"Ceil", unary<"ceil">},
    {"Celu", with_reals<"celu">},
    {"Clip", clip},
    {"Cos", unary<"cos">},
    {"Cosh", unary<"cosh">},
    {"Div", binary<"div">},
    {"Dropout", dropout},
    {"Elu", with_reals<"elu">},
    {"Equal", binary<"equal">},
    {"Erf", unary<"erf">},
    {"Exp", unary<"exp">},
    {"Floor", unary<"floor">},
    {"Gelu", gelu},
    {"BiasGelu", bias_gelu, Narrow::refused, kRuntimeDomain},
    {"FastGelu", fast_gelu, Narrow::refused, kRuntimeDomain},
    {"Gelu", gelu, Narrow::refused, kRuntimeDomain},
    {"QuickGelu", quick_gelu, Narrow::refused, kRuntimeDomain},
    {"Greater", binary<"greater">},
    {"GreaterOrEqual", binary<"greater_equal">},
    {"HardSigmoid", with_reals<"hard_sigmoid">},
    {"HardSwish", unary<"hard_swish">},
    {"Identity", identity, Narrow::moved},
    {"IsInf", is_inf},
    {"IsNaN", unary<"isnan">},
    {"LeakyRelu", with_reals<"leaky_relu">},
    {"Less", binary<"less">},
    {"LessOrEqual", binary<"less_equal">},
    {"Log", unary<"log">},
    {"Max", variadic<"max">},
    {"Mean", mean},
    {"Min", variadic<"min">},
    {"Mish", unary<"mish">},
    {"Mod", mod},
    {"Mul", binary<"mul">},
    {"Neg", unary<"neg">},
    {"Not", unary<"not">},
    {"Or", binary<"or">},
    {"PRelu", prelu},
    {"Pow", pow},
    {"Reciprocal", unary<"reciprocal">},
    {"Relu", unary<"relu">},
    {"Round", unary<"round">},
    {"Selu", with_reals<"selu">},
    {"Shrink", with_reals<"shrink">},
    {"Sigmoid", unary<"sigmoid">},
    {"Sign", unary<"sign">},
    {"Sin", unary<"sin">},
    {"Sinh", unary<"sinh">},
    {"Softplus", unary<"softplus">},
    {"Softsign", unary<"softsign">},
    {"Sqrt", unary<"sqrt">},
    {"Sub", binary<"sub">},
    {"Sum", variadic<"add">},
    {"SwiGLU", swiglu},
    {"Swish", swish},
    {"Tan", unary<"tan">},
    {"Tanh", unary<"tanh">},
    {"ThresholdedRelu", with_reals<"thresholded_relu">},
    {"Where", where, Narrow::moved},
    {"Xor", binary<"xor">},
};

}  // namespace

std::span<const OnnxOp> onnx_ops_elementwise() { return kElementwiseOps; }

}  // namespace tw::frontends
