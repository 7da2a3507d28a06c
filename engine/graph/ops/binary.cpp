// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

using ir::BinaryOp;
using ir::Intrinsic;

template <Domain kDomain, bool kBoolResult>
Types infer_binary(const OpContext& c) {
  TW_CHECK(check_operands(c, 2, 2));
  TW_CHECK(check_same_dtype(c, 0, 1));
  const DType t = operand(c, 0).dtype;
  TW_CHECK(check_domain(c, 0, kDomain));
  TW_TRY(Dims shape, broadcast_shapes(c, operand(c, 0).shape, operand(c, 1).shape));
  return result(c, kBoolResult ? kBool : t, std::move(shape));
}

using BinaryFormula = Expr (*)(const Expr& a, const Expr& b);

template <BinaryFormula kFormula>
Tensors binary_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  return std::vector{
      b.compute(c.node->op, c.outputs[0].shape, [&](const Indices& i) { return kFormula(read_broadcast(*in[0], i), read_broadcast(*in[1], i)); })};
}

template <Domain kDomain, BinaryFormula kFormula, bool kBoolResult = false>
OpDef binary_row(const char* name, double tolerance, const char* summary) {
  return {name, FusionKind::broadcast, infer_binary<kDomain, kBoolResult>, binary_to_te<kFormula>, tolerance, summary};
}

template <BinaryOp kOp>
Expr apply_binary(const Expr& a, const Expr& b) {
  return ir::binary(kOp, a, b);
}
Expr divide(const Expr& a, const Expr& b) { return a->dtype.is_float() ? a / b : safe_div(a, b); }
/// Remainder with the divisor's sign.
Expr modulo(const Expr& a, const Expr& b) {
  if (a->dtype.is_float()) {
    const Expr r = ir::call(Intrinsic::fmod, {a, b});
    const Expr zero = ir::zero(a->dtype);
    const Expr differs = (r < zero && zero < b) || (zero < r && b < zero);
    // Nothing left of it: a zero with the sign of b, which adding or multiplying zeros cannot make.
    const Expr nothing = ir::select(b < zero, number(a, -0.0), zero);
    return ir::select(differs, r + b, ir::select(ir::equal(r, zero), nothing, r));
  }
  const Expr r = safe_trunc_mod(a, b);
  if (!a->dtype.is_signed()) return r;
  const Expr zero = ir::zero(a->dtype);
  return ir::select((r < zero && zero < b) || (zero < r && b < zero), r + b, r);
}
/// Remainder with the dividend's sign.
Expr fmod(const Expr& a, const Expr& b) { return a->dtype.is_float() ? ir::call(Intrinsic::fmod, {a, b}) : safe_trunc_mod(a, b); }
/// Integers go through float64: exact up to 2^53.
Expr power(const Expr& a, const Expr& b) {
  if (a->dtype.is_float()) return ir::call(Intrinsic::pow, {a, b});
  return ir::cast(a->dtype, ir::call(Intrinsic::pow, {ir::cast(kFloat64, a), ir::cast(kFloat64, b)}));
}
Expr greater(const Expr& a, const Expr& b) { return b < a; }
Expr greater_equal(const Expr& a, const Expr& b) { return b <= a; }
Expr prelu(const Expr& x, const Expr& slope) { return ir::select(x < ir::zero(x->dtype), slope * x, x); }
/// By the width or more, or by a negative number: what shifting all bits out gives, so -1 for a negative number to the right.
template <BinaryOp kOp>
Expr shift(const Expr& a, const Expr& b) {
  const Expr limit = ir::imm(a->dtype, a->dtype.bits), zero = ir::zero(a->dtype);
  const bool is_signed = a->dtype.is_signed();
  const Expr within = is_signed ? zero <= b && b < limit : b < limit;
  const Expr amount = is_signed ? ir::max(ir::min(b, limit - 1), zero) : ir::min(b, limit - 1);
  const Expr out = is_signed && kOp == BinaryOp::shr ? ir::select(a < zero, number(a, -1), zero) : zero;
  return ir::select(within, ir::binary(kOp, a, amount), out);
}

}  // namespace

std::vector<OpDef> binary() {
  return {
      binary_row<Domain::numeric, apply_binary<BinaryOp::add>>("add", kArithmetic, "a + b"),
      binary_row<Domain::numeric, apply_binary<BinaryOp::sub>>("sub", kArithmetic, "a - b"),
      binary_row<Domain::numeric, apply_binary<BinaryOp::mul>>("mul", kArithmetic, "a * b"),
      binary_row<Domain::numeric, divide>("div", kArithmetic, "a / b; truncating for integers, 0 for an integer division by 0"),
      binary_row<Domain::numeric, modulo>("mod", kArithmetic, "Remainder with the sign of b"),
      binary_row<Domain::numeric, fmod>("fmod", kArithmetic, "Remainder with the sign of a"),
      binary_row<Domain::numeric, power>("pow", kTranscendental, "a to the power of b"),
      binary_row<Domain::numeric, apply_binary<BinaryOp::max>>("max", kExact, "The larger of a and b"),
      binary_row<Domain::numeric, apply_binary<BinaryOp::min>>("min", kExact, "The smaller of a and b"),
      binary_row<Domain::floating, prelu>("prelu", kArithmetic, "a, or a * b where a is below 0"),
      binary_row<Domain::any, apply_binary<BinaryOp::eq>, true>("equal", kExact, "a == b"),
      binary_row<Domain::any, apply_binary<BinaryOp::ne>, true>("not_equal", kExact, "a != b"),
      binary_row<Domain::numeric, apply_binary<BinaryOp::lt>, true>("less", kExact, "a < b"),
      binary_row<Domain::numeric, apply_binary<BinaryOp::le>, true>("less_equal", kExact, "a <= b"),
      binary_row<Domain::numeric, greater, true>("greater", kExact, "a > b"),
      binary_row<Domain::numeric, greater_equal, true>("greater_equal", kExact, "a >= b"),
      binary_row<Domain::boolean, apply_binary<BinaryOp::and_>>("and", kExact, "Both"),
      binary_row<Domain::boolean, apply_binary<BinaryOp::or_>>("or", kExact, "Either or both"),
      binary_row<Domain::boolean, apply_binary<BinaryOp::ne>>("xor", kExact, "Exactly one"),
      binary_row<Domain::integer, apply_binary<BinaryOp::bit_and>>("bitwise_and", kExact, "Bits set in both"),
      binary_row<Domain::integer, apply_binary<BinaryOp::bit_or>>("bitwise_or", kExact, "Bits set in either"),
      binary_row<Domain::integer, apply_binary<BinaryOp::bit_xor>>("bitwise_xor", kExact, "Bits set in exactly one"),
      binary_row<Domain::integer, shift<BinaryOp::shl>>("shift_left", kExact, "a * 2^b; 0 if b is negative or the width or more"),
      binary_row<Domain::integer, shift<BinaryOp::shr>>("shift_right", kExact, "a / 2^b, rounded down; the sign alone if b is negative or the width or more"),
  };
}

}  // namespace tw::graph::ops
