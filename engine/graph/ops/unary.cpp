// SPDX-License-Identifier: Apache-2.0
#include <numbers>

#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

using ir::Intrinsic;

template <Domain kDomain, bool kBoolResult>
Types infer_unary(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  TW_CHECK(check_domain(c, 0, kDomain));
  const TensorType& x = operand(c, 0);
  return result(c, kBoolResult ? kBool : x.dtype, x.shape);
}

using UnaryFormula = Expr (*)(const Expr& x, const Attrs& a);

template <UnaryFormula kFormula>
Tensors unary_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  return std::vector{b.compute(c.node->op, x.shape(), [&](const Indices& i) { return kFormula(x.at(i), c.node->attrs); })};
}

template <Domain kDomain, UnaryFormula kFormula, bool kBoolResult = false>
OpDef unary_row(const char* name, double tolerance, const char* summary) {
  return {name, FusionKind::elementwise, infer_unary<kDomain, kBoolResult>, unary_to_te<kFormula>, tolerance, summary};
}

template <Intrinsic kFunction>
Expr apply_unary(const Expr& x, const Attrs&) {
  return call(kFunction, x);
}
template <Intrinsic kFunction>
OpDef function(const char* name, double tolerance, const char* summary) {
  return unary_row<Domain::floating, apply_unary<kFunction>>(name, tolerance, summary);
}

Expr positive_part(const Expr& x) { return ir::max(x, ir::zero(x->dtype)); }
Expr clamp(const Expr& x, double lo, double hi) { return ir::min(ir::max(x, number(x, lo)), number(x, hi)); }
Expr is_positive(const Expr& x) { return ir::zero(x->dtype) < x; }
/// exp(x) - 1 on the negative side only, so that large x cannot overflow.
Expr expm1_negative(const Expr& x) { return call(Intrinsic::exp, ir::min(x, ir::zero(x->dtype))) - number(x, 1); }
/// log(1 + exp(x)) without overflow.
Expr softplus(const Expr& x) {
  return positive_part(x) + call(Intrinsic::log, number(x, 1) + call(Intrinsic::exp, ir::zero(x->dtype) - call(Intrinsic::fabs, x)));
}

Expr absolute(const Expr& x, const Attrs&) { return x->dtype.is_int() && !x->dtype.is_signed() ? x : call(Intrinsic::fabs, x); }
/// -1 * x rather than 0 - x: keeps the sign of zero.
Expr negate(const Expr& x, const Attrs&) { return x->dtype.is_float() ? x * number(x, -1) : ir::zero(x->dtype) - x; }
Expr reciprocal(const Expr& x, const Attrs&) { return number(x, 1) / x; }
Expr square(const Expr& x, const Attrs&) { return x * x; }
Expr sign(const Expr& x, const Attrs&) {
  const Expr zero = ir::zero(x->dtype);
  const Expr negative = x->dtype.is_float() || x->dtype.is_signed() ? ir::select(x < zero, number(x, -1), zero) : zero;
  return ir::select(zero < x, number(x, 1), negative);
}
Expr identity(const Expr& x, const Attrs&) { return x; }
Expr logical_not(const Expr& x, const Attrs&) { return ir::logical_not(x); }
Expr bitwise_not(const Expr& x, const Attrs&) {
  return ir::binary(ir::BinaryOp::bit_xor, x, ir::imm(x->dtype, x->dtype.is_signed() || x->dtype.bits == 64 ? -1 : (int64_t{1} << x->dtype.bits) - 1));
}
Expr isinf(const Expr& x, const Attrs& a) {
  Expr hit = call(Intrinsic::isinf, x);
  if (!a.integer("detect_positive", 1)) hit = hit && x < ir::zero(x->dtype);
  if (!a.integer("detect_negative", 1)) hit = hit && is_positive(x);
  return hit;
}
Expr relu(const Expr& x, const Attrs&) { return positive_part(x); }
Expr leaky_relu(const Expr& x, const Attrs& a) { return ir::select(x < ir::zero(x->dtype), x * number(x, a.real("alpha", 0.01)), x); }
Expr thresholded_relu(const Expr& x, const Attrs& a) { return ir::select(number(x, a.real("alpha", 1)) < x, x, ir::zero(x->dtype)); }
Expr elu(const Expr& x, const Attrs& a) { return ir::select(is_positive(x), x, number(x, a.real("alpha", 1)) * expm1_negative(x)); }
Expr celu(const Expr& x, const Attrs& a) {
  const Expr alpha = number(x, a.real("alpha", 1));
  return ir::select(is_positive(x), x, alpha * expm1_negative(x / alpha));
}
Expr selu(const Expr& x, const Attrs& a) {
  const Expr inner = ir::select(is_positive(x), x, number(x, a.real("alpha", 1.67326319217681884765625)) * expm1_negative(x));
  return number(x, a.real("gamma", 1.05070102214813232421875)) * inner;
}
Expr hard_sigmoid(const Expr& x, const Attrs& a) { return clamp(x * number(x, a.real("alpha", 0.2)) + number(x, a.real("beta", 0.5)), 0, 1); }
Expr hard_swish(const Expr& x, const Attrs&) { return x * clamp(x / number(x, 6) + number(x, 0.5), 0, 1); }
Expr silu(const Expr& x, const Attrs&) { return x * call(Intrinsic::sigmoid, x); }
/// tanh(ln(1 + e)) is t / (t + 2) with t = e * (e + 2), of e = exp(x); from 20 on it is 1.
Expr mish(const Expr& x, const Attrs&) {
  const Expr e = call(Intrinsic::exp, ir::min(x, number(x, 20))), t = e * (e + number(x, 2));
  return x * (t / (t + number(x, 2)));
}
Expr softplus_op(const Expr& x, const Attrs&) { return softplus(x); }
Expr softsign(const Expr& x, const Attrs&) { return x / (number(x, 1) + call(Intrinsic::fabs, x)); }
Expr gelu(const Expr& x, const Attrs& a) {
  const Expr half = number(x, 0.5), one = number(x, 1);
  if (a.text("approximate", "none") != "tanh") return half * x * (one + call(Intrinsic::erf, x * number(x, 1 / std::numbers::sqrt2)));
  const Expr inner = number(x, std::sqrt(2 / std::numbers::pi)) * (x + number(x, 0.044715) * x * x * x);
  return half * x * (one + call(Intrinsic::tanh, inner));
}
Expr shrink(const Expr& x, const Attrs& a) {
  const double lambda = a.real("lambd", 0.5), bias = a.real("bias", 0);
  const Expr low = ir::select(x < number(x, -lambda), x + number(x, bias), ir::zero(x->dtype));
  return ir::select(number(x, lambda) < x, x - number(x, bias), low);
}
Expr clip(const Expr& x, const Attrs& a) {
  Expr out = x;
  if (a.has("min")) out = ir::max(out, number(x, a.real("min", 0)));
  if (a.has("max")) out = ir::min(out, number(x, a.real("max", 0)));
  return out;
}

std::vector<OpDef> functions() {
  return {
      function<Intrinsic::exp>("exp", kTranscendental, "e to the power of x"),
      function<Intrinsic::log>("log", kTranscendental, "Natural logarithm"),
      function<Intrinsic::sqrt>("sqrt", kArithmetic, "Square root"),
      function<Intrinsic::rsqrt>("rsqrt", kTranscendental, "Reciprocal square root"),
      function<Intrinsic::tanh>("tanh", kTranscendental, "Hyperbolic tangent"),
      function<Intrinsic::sigmoid>("sigmoid", kTranscendental, "1 / (1 + exp(-x))"),
      function<Intrinsic::erf>("erf", kTranscendental, "Gauss error function"),
      function<Intrinsic::floor>("floor", kExact, "Largest integer not above x"),
      function<Intrinsic::ceil>("ceil", kExact, "Smallest integer not below x"),
      function<Intrinsic::round>("round", kExact, "Nearest integer, half to even"),
      function<Intrinsic::trunc>("trunc", kExact, "Integer part, towards zero"),
      function<Intrinsic::sin>("sin", kTranscendental, "Sine"),
      function<Intrinsic::cos>("cos", kTranscendental, "Cosine"),
      function<Intrinsic::tan>("tan", kTranscendental, "Tangent"),
      function<Intrinsic::asin>("asin", kTranscendental, "Inverse sine"),
      function<Intrinsic::acos>("acos", kTranscendental, "Inverse cosine"),
      function<Intrinsic::atan>("atan", kTranscendental, "Inverse tangent"),
      function<Intrinsic::sinh>("sinh", kTranscendental, "Hyperbolic sine"),
      function<Intrinsic::cosh>("cosh", kTranscendental, "Hyperbolic cosine"),
      function<Intrinsic::asinh>("asinh", kTranscendental, "Inverse hyperbolic sine"),
      function<Intrinsic::acosh>("acosh", kTranscendental, "Inverse hyperbolic cosine"),
      function<Intrinsic::atanh>("atanh", kTranscendental, "Inverse hyperbolic tangent"),
      unary_row<Domain::floating, apply_unary<Intrinsic::isnan>, true>("isnan", kExact, "Whether x is not a number"),
  };
}

std::vector<OpDef> formulas() {
  return {
      unary_row<Domain::any, identity>("identity", kExact, "x itself"),
      unary_row<Domain::numeric, absolute>("abs", kExact, "Absolute value"),
      unary_row<Domain::signed_, negate>("neg", kExact, "-x"),
      unary_row<Domain::floating, reciprocal>("reciprocal", kArithmetic, "1 / x"),
      unary_row<Domain::numeric, square>("square", kArithmetic, "x * x"),
      unary_row<Domain::numeric, sign>("sign", kExact, "-1, 0 or 1"),
      unary_row<Domain::boolean, logical_not>("not", kExact, "Logical negation"),
      unary_row<Domain::integer, bitwise_not>("bitwise_not", kExact, "Every bit inverted"),
      unary_row<Domain::floating, isinf, true>("isinf", kExact, "Whether x is infinite; detect_positive, detect_negative choose the side"),
      unary_row<Domain::numeric, relu>("relu", kExact, "max(x, 0)"),
      unary_row<Domain::numeric, clip>("clip", kExact, "x limited to [min, max]; an absent attribute is no limit"),
      unary_row<Domain::floating, leaky_relu>("leaky_relu", kArithmetic, "x, or alpha * x below 0"),
      unary_row<Domain::floating, thresholded_relu>("thresholded_relu", kExact, "x above alpha, else 0"),
      unary_row<Domain::floating, elu>("elu", kTranscendental, "x, or alpha * (exp(x) - 1) below 0"),
      unary_row<Domain::floating, celu>("celu", kTranscendental, "x, or alpha * (exp(x / alpha) - 1) below 0"),
      unary_row<Domain::floating, selu>("selu", kTranscendental, "Scaled elu with alpha and gamma"),
      unary_row<Domain::floating, hard_sigmoid>("hard_sigmoid", kArithmetic, "alpha * x + beta limited to [0, 1]"),
      unary_row<Domain::floating, hard_swish>("hard_swish", kArithmetic, "x * hard_sigmoid(x) with alpha 1/6 and beta 1/2"),
      unary_row<Domain::floating, silu>("silu", kTranscendental, "x * sigmoid(x)"),
      unary_row<Domain::floating, mish>("mish", kTranscendental, "x * tanh(softplus(x))"),
      unary_row<Domain::floating, softplus_op>("softplus", kTranscendental, "log(1 + exp(x))"),
      unary_row<Domain::floating, softsign>("softsign", kArithmetic, "x / (1 + |x|)"),
      unary_row<Domain::floating, gelu>("gelu", kTranscendental, "x times the normal distribution function; approximate is 'none' or 'tanh'"),
      unary_row<Domain::signed_, shrink>("shrink", kArithmetic, "x pulled towards 0 by bias outside [-lambd, lambd], else 0"),
  };
}

}  // namespace

std::vector<OpDef> unary() {
  std::vector<OpDef> rows = functions();
  for (const OpDef& d : formulas()) rows.push_back(d);
  return rows;
}

}  // namespace tw::graph::ops
