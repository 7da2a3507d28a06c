// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "engine/frontends/torch/aten.h"

namespace tw::frontends {

namespace {

template <size_t kLength>
struct BinaryName {
  char text[kLength];
  constexpr BinaryName(const char (&s)[kLength]) {
    for (size_t i = 0; i < kLength; ++i) text[i] = s[i];
  }
};

/// Both operands in the type of the result.
std::pair<int, int> in_result_type(TorchNode& n, const char* a = "self", const char* b = "other") {
  const DType t = n.result_type();
  return {n.operand_in(a, t), n.operand_in(b, t)};
}

int scaled(TorchNode& n, int v) {
  const double alpha = n.real("alpha", 1);
  return alpha == 1 ? v : n.with_scalar("mul", v, alpha);
}

/// Sums of booleans are whether any holds.
int numeric(TorchNode& n, const char* op, int a, int b) {
  if (!n.dtype(a).is_bool()) return n.binary(op, a, b);
  return n.binary(std::string_view(op) == "mul" || std::string_view(op) == "min" ? "and" : "or", a, b);
}

/// What an in-place form writes has the type of `self`: the computation is in the type that the operands ask for.
std::vector<int> operands(TorchNode& n) { return n.promoted({"self", "other"}); }

TorchResults add(TorchNode& n) {
  const auto v = operands(n);
  return n.one(numeric(n, "add", v[0], scaled(n, v[1])));
}
TorchResults sub(TorchNode& n) {
  const auto v = operands(n);
  return n.one(n.binary("sub", v[0], scaled(n, v[1])));
}
TorchResults rsub(TorchNode& n) {
  const auto v = operands(n);
  return n.one(n.binary("sub", v[1], scaled(n, v[0])));
}
TorchResults mul(TorchNode& n) {
  const auto v = operands(n);
  return n.one(numeric(n, "mul", v[0], v[1]));
}
int as_floats(TorchNode& n, int v) { return n.dtype(v).is_float() ? v : n.cast(v, kFloat32); }

int floor_quotient(TorchNode& n, int a, int b) {
  if (n.dtype(a).is_float()) return n.emit("floor", {n.binary("div", a, b)});
  if (!n.dtype(a).is_signed()) return n.binary("div", a, b);
  return n.binary("div", n.binary("sub", a, n.binary("mod", a, b)), b);
}
TorchResults div(TorchNode& n) {
  const auto v = operands(n);
  const std::string rounding = n.text("rounding_mode", "");
  if (rounding == "floor") return n.one(floor_quotient(n, v[0], v[1]));
  if (rounding == "trunc") return n.one(n.dtype(v[0]).is_float() ? n.emit("trunc", {n.binary("div", v[0], v[1])}) : n.binary("div", v[0], v[1]));
  return n.one(n.binary("div", as_floats(n, v[0]), as_floats(n, v[1])));
}
TorchResults floor_divide(TorchNode& n) {
  const auto v = operands(n);
  return n.one(floor_quotient(n, v[0], v[1]));
}
template <BinaryName kOurs>
TorchResults promoted(TorchNode& n) {
  const auto v = operands(n);
  return n.one(numeric(n, kOurs.text, v[0], v[1]));
}
/// Truth values compare as numbers do.
template <BinaryName kOurs>
TorchResults compared(TorchNode& n) {
  auto v = operands(n);
  const std::string_view op = kOurs.text;
  if (n.dtype(v[0]).is_bool() && op != "equal" && op != "not_equal")
    for (int& x : v) x = n.cast(x, kUInt8);
  return n.one(n.binary(kOurs.text, v[0], v[1]));
}
template <BinaryName kOurs>
TorchResults logical(TorchNode& n) {
  return n.one(n.binary(kOurs.text, n.cast(n.tensor("self"), kBool), n.operand_in("other", kBool)));
}
template <BinaryName kInts, BinaryName kBools>
TorchResults bitwise(TorchNode& n) {
  const auto v = operands(n);
  return n.one(n.binary(n.dtype(v[0]).is_bool() ? kBools.text : kInts.text, v[0], v[1]));
}

/// Powers with a small whole exponent are products.
TorchResults pow(TorchNode& n) {
  const auto v = n.promoted({"self", "exponent"});
  const HostArray* exponent = n.constant_of(v[1]);
  const double e = exponent && exponent->num_elements() == 1 ? exponent->get(0) : NAN;
  const Term x{&n, v[0]};
  const bool same_shape = exponent && exponent->shape.empty();
  if (same_shape && e == 2) return n.one(n.emit("square", {v[0]}));
  if (same_shape && e == 3) return n.one((x * x * x).v);
  if (same_shape && e == 1) return n.one(v[0]);
  if (same_shape && n.dtype(v[0]).is_float()) {
    if (e == 0.5) return n.one(x.apply("sqrt").v);
    if (e == -0.5) return n.one(x.apply("rsqrt").v);
    if (e == -1) return n.one(x.apply("reciprocal").v);
  }
  return n.one(n.binary("pow", v[0], v[1]));
}

/// Source: the quadrants of the arc tangent of y / x.
TorchResults atan2(TorchNode& n) {
  const auto v = operands(n);
  const Term y{&n, as_floats(n, v[0])}, x{&n, as_floats(n, v[1])};
  const Term angle = y.with("div", x).apply("atan"), left = x.with("less", 0), below = y.with("less", 0);
  const Term turned = choose(left, choose(below, angle - std::numbers::pi, angle + std::numbers::pi), angle);
  const Term sign = y.apply("sign") * (std::numbers::pi / 2);
  return n.one(choose(x.with("equal", 0), sign, turned).v);
}

int third(TorchNode& n, const char* op) {
  const DType t = n.result_type();
  const double value = n.real("value", 1);
  int product = n.binary(op, n.operand_in("tensor1", t), n.operand_in("tensor2", t));
  if (value != 1) product = n.with_scalar("mul", product, value);
  return n.binary("add", n.operand_in("self", t), product);
}
TorchResults addcmul(TorchNode& n) { return n.one(third(n, "mul")); }
TorchResults addcdiv(TorchNode& n) { return n.one(third(n, "div")); }
TorchResults lerp(TorchNode& n) {
  const auto [a, b] = in_result_type(n, "self", "end");
  const int weight = n.operand_in("weight", n.dtype(a));
  return n.one(n.binary("add", a, n.binary("mul", weight, n.binary("sub", b, a))));
}

TorchResults where(TorchNode& n) {
  const auto v = n.promoted({"self", "other"});
  return n.one(n.choose(n.cast(n.tensor("condition"), kBool), v[0], v[1]));
}
TorchResults masked_fill(TorchNode& n) {
  const int x = n.tensor("self");
  return n.one(n.choose(n.cast(n.tensor("mask"), kBool), n.operand_in("value", n.dtype(x)), x));
}

constexpr AtenOp kAtenBinary[] = {
    {"aten.__and__", bitwise<"bitwise_and", "and">},
    {"aten.__lshift__", promoted<"shift_left">},
    {"aten.__or__", bitwise<"bitwise_or", "or">},
    {"aten.__rshift__", promoted<"shift_right">},
    {"aten.__xor__", bitwise<"bitwise_xor", "xor">},
    {"aten.add", add},
    {"aten.addcdiv", addcdiv},
    {"aten.addcmul", addcmul},
    {"aten.arctan2", atan2},
    {"aten.atan2", atan2},
    {"aten.bitwise_and", bitwise<"bitwise_and", "and">},
    {"aten.bitwise_left_shift", promoted<"shift_left">},
    {"aten.bitwise_or", bitwise<"bitwise_or", "or">},
    {"aten.bitwise_right_shift", promoted<"shift_right">},
    {"aten.bitwise_xor", bitwise<"bitwise_xor", "xor">},
    {"aten.div", div},
    {"aten.divide", div},
    {"aten.eq", compared<"equal">},
    {"aten.floor_divide", floor_divide},
    {"aten.fmod", promoted<"fmod">},
    {"aten.ge", compared<"greater_equal">},
    {"aten.greater", compared<"greater">},
    {"aten.greater_equal", compared<"greater_equal">},
    {"aten.gt", compared<"greater">},
    {"aten.le", compared<"less_equal">},
    {"aten.lerp", lerp},
    {"aten.less", compared<"less">},
    {"aten.less_equal", compared<"less_equal">},
    {"aten.logical_and", logical<"and">},
    {"aten.logical_or", logical<"or">},
    {"aten.logical_xor", logical<"xor">},
    {"aten.lt", compared<"less">},
    {"aten.masked_fill", masked_fill},
    {"aten.maximum", promoted<"max">},
    {"aten.minimum", promoted<"min">},
    {"aten.mul", mul},
    {"aten.multiply", mul},
    {"aten.ne", compared<"not_equal">},
    {"aten.not_equal", compared<"not_equal">},
    {"aten.pow", pow},
    {"aten.remainder", promoted<"mod">},
    {"aten.rsub", rsub},
    {"aten.sub", sub},
    {"aten.subtract", sub},
    {"aten.true_divide", div},
    {"aten.where", where},
};

}  // namespace

std::span<const AtenOp> aten_binary() { return kAtenBinary; }

}  // namespace tw::frontends
