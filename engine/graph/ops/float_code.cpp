// SPDX-License-Identifier: Apache-2.0
#include "engine/base/float_format.h"
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

using ir::BinaryOp;
using ir::Intrinsic;
using Specials = FloatFormat::Specials;

Expr word(uint32_t v) { return ir::imm(kUInt32, v); }
Expr shifted_left(const Expr& a, int n) { return n == 0 ? a : ir::binary(BinaryOp::shl, a, word(static_cast<uint32_t>(n))); }
Expr shifted_right(const Expr& a, int n) { return n == 0 ? a : ir::binary(BinaryOp::shr, a, word(static_cast<uint32_t>(n))); }
Expr masked(const Expr& a, uint32_t mask) { return ir::binary(BinaryOp::bit_and, a, word(mask)); }

/// Its codes are the upper bits of a float32's, those of its smallest numbers too.
bool has_range_of_float32(const FloatFormat& f) { return f.exponent_bits == 8 && f.bias == 127; }

DType code_type(const FloatFormat& f) { return f.bits() > 8 ? kUInt16 : kUInt8; }

Expected<const FloatFormat*> format_of(const OpContext& c) {
  const std::string name = c.node->attrs.text("format", "");
  if (const FloatFormat* f = find_float_format(name)) return f;
  return bad(c, fmt::format("expected a floating-point format of at most 16 bits in 'format', found '{}'", name));
}

Types infer_decode(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  TW_TRY(const FloatFormat* f, format_of(c));
  if (operand(c, 0).dtype != code_type(*f)) return bad(c, fmt::format("expected {} codes, found {}", code_type(*f).name(), operand(c, 0).dtype.name()));
  return result(c, kFloat32, operand(c, 0).shape);
}

/// The value as float32, which holds every number of every format.
Expr decoded(const FloatFormat& f, const Expr& code) {
  const Expr c = ir::cast(kUInt32, code), magnitude = masked(c, f.magnitude_mask());
  const Expr exponent = shifted_right(magnitude, f.mantissa_bits), mantissa = masked(magnitude, (1u << f.mantissa_bits) - 1);
  const auto from_bits = [](const Expr& bits) { return call(Intrinsic::bits_float, bits); };
  if (f.specials == Specials::powers) {
    const Expr power = ir::select(ir::equal(c, word(0)), word(0x00400000), shifted_left(c, 23));
    return ir::select(ir::equal(c, word(f.nan())), ir::fimm(kFloat32, NAN), from_bits(power));
  }
  const Expr normal = from_bits(shifted_left(magnitude, 23 - f.mantissa_bits) + word(static_cast<uint32_t>(127 - f.bias) << 23));
  const Expr small = ir::cast(kFloat32, mantissa) * ir::fimm(kFloat32, std::ldexp(1.0, 1 - f.bias - f.mantissa_bits));
  Expr value = has_range_of_float32(f) ? normal : ir::select(ir::equal(exponent, word(0)), small, normal);
  const Expr nan = ir::fimm(kFloat32, NAN);
  if (f.specials == Specials::ieee) {
    const Expr special = ir::select(ir::equal(magnitude, word(f.infinity())), ir::fimm(kFloat32, INFINITY), nan);
    value = ir::select(magnitude < word(f.infinity()), value, special);
  }
  if (f.specials == Specials::all_ones) value = ir::select(ir::equal(magnitude, word(f.nan())), nan, value);
  value = ir::select(magnitude < c, value * ir::fimm(kFloat32, -1), value);
  return f.specials == Specials::minus_zero ? ir::select(ir::equal(c, word(f.nan())), nan, value) : value;
}

Tensors decode_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  TW_TRY(const FloatFormat* f, format_of(c));
  return std::vector{b.compute("float_decode", c.outputs[0].shape, [&](const Indices& i) { return decoded(*f, in[0]->at(i)); })};
}

/// Attributes: format; saturate (1): numbers too large become the largest one, else infinity or NaN; rounding ("nearest", "up", "down") of formats that hold
/// powers of two alone.
Types infer_encode(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  TW_TRY(const FloatFormat* f, format_of(c));
  if (operand(c, 0).dtype != kFloat32) return bad(c, fmt::format("expected a float32 operand, found {}", operand(c, 0).dtype.name()));
  const std::string rounding = c.node->attrs.text("rounding", "nearest");
  if (rounding != "nearest" && (f->specials != Specials::powers || (rounding != "up" && rounding != "down")))
    return bad(c, fmt::format("expected rounding 'nearest', or of powers of two 'up' or 'down', found '{}'", rounding));
  return result(c, code_type(*f), operand(c, 0).shape);
}

/// Code of the power of two beside |x|, given as bits of a float32. Zero is below all of them.
Expr encoded_power(const FloatFormat& f, const Expr& bits, const std::string& rounding, bool saturate) {
  const Expr magnitude = masked(bits, 0x7fffffff), mantissa = masked(bits, 0x7fffff);
  // Below 2^-126 float32 has no exponent of its own: between 2^-127 and it, the bits 0x400000 to 0x7fffff.
  const uint32_t half = rounding == "up" ? 1 : 0x400000;
  Expr up = rounding == "down" ? word(0) : ir::select(mantissa < word(half), word(0), word(1));
  const Expr small_up = rounding == "down" ? word(0) : ir::select(magnitude < word(rounding == "up" ? 0x400001 : 0x600000), word(0), word(1));
  Expr code = ir::select(magnitude < word(0x800000), small_up, shifted_right(magnitude, 23) + up);
  code = ir::select(word(f.largest()) < code, word(saturate ? f.largest() : f.nan()), code);
  if (!saturate) code = ir::select(ir::equal(magnitude, word(0)), word(f.nan()), code);
  return ir::select(word(0x7f800000) < magnitude, word(f.nan()), code);
}

/// Code of the number next to `x`, ties to even.
Expr encoded(const FloatFormat& f, const Expr& x, const std::string& rounding, bool saturate) {
  const Expr bits = call(Intrinsic::float_bits, x);
  if (f.specials == Specials::powers) return encoded_power(f, bits, rounding, saturate);
  const Expr magnitude = masked(bits, 0x7fffffff);
  const int dropped = 23 - f.mantissa_bits;
  const Expr rounded = magnitude + word((1u << (dropped - 1)) - 1) + masked(shifted_right(magnitude, dropped), 1);
  const Expr normal = shifted_right(rounded, dropped) - word(static_cast<uint32_t>(127 - f.bias) << f.mantissa_bits);
  const double scale = std::ldexp(1.0, f.bias - 1 + f.mantissa_bits);  // one step of the smallest numbers
  const Expr steps = call(Intrinsic::round, call(Intrinsic::fabs, x) * ir::fimm(kFloat32, scale));
  const Expr is_small = magnitude < word(static_cast<uint32_t>(128 - f.bias) << 23);
  Expr code = has_range_of_float32(f) ? normal : ir::select(is_small, ir::cast(kUInt32, ir::select(is_small, steps, ir::zero(kFloat32))), normal);
  const bool kept = saturate || f.specials == Specials::none;
  const uint32_t beyond = kept ? f.largest() : f.specials == Specials::ieee ? f.infinity() : f.nan();
  code = ir::select(word(f.largest()) < code, word(beyond), code);
  code = ir::select(ir::equal(magnitude, word(0x7f800000)), word(beyond), code);
  const Expr sign = shifted_left(shifted_right(bits, 31), f.exponent_bits + f.mantissa_bits);
  const Expr nan = word(f.nan());
  if (f.specials == Specials::minus_zero) {  // no sign on zero and NaN
    const Expr plain = ir::equal(code, word(0)) || ir::equal(code, nan);
    return ir::select(word(0x7f800000) < magnitude, nan, ir::select(plain, code, ir::binary(BinaryOp::bit_or, code, sign)));
  }
  return ir::binary(BinaryOp::bit_or, ir::select(word(0x7f800000) < magnitude, nan, code), sign);
}

Tensors encode_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  TW_TRY(const FloatFormat* f, format_of(c));
  const std::string rounding = c.node->attrs.text("rounding", "nearest");
  const bool saturate = c.node->attrs.integer("saturate", 1) != 0;
  return std::vector{b.compute("float_encode", c.outputs[0].shape,
                               [&](const Indices& i) { return ir::cast(code_type(*f), encoded(*f, in[0]->at(i), rounding, saturate)); })};
}

/// Attribute `to`: a type of the same width.
Types infer_bitcast(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  auto to = parse_dtype(c.node->attrs.text("to", ""));
  if (!to || !to->is_scalar()) return bad(c, fmt::format("expected a type name in 'to', found '{}'", c.node->attrs.text("to", "")));
  const DType from = operand(c, 0).dtype;
  if (from.bits != to->bits) return bad(c, fmt::format("expected two types of one width, found {} and {}", from.name(), to->name()));
  return result(c, *to, operand(c, 0).shape);
}

Tensors bitcast_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const DType from = operand(c, 0).dtype, to = c.outputs[0].dtype, bits{TypeCode::uint, from.bits, 1};
  return std::vector{b.compute("bitcast", c.outputs[0].shape, [&](const Indices& i) {
    Expr x = in[0]->at(i);
    if (from == to) return x;
    if (from.is_float() && from.bits == 16) x = ir::cast(kUInt16, encoded(*find_float_format(from.name()), ir::cast(kFloat32, x), "nearest", false));
    if (from.is_float() && from.bits > 16) x = call(Intrinsic::float_bits, x);
    if (!to.is_float()) return ir::cast(to, x);
    x = ir::cast(bits, x);
    return to.bits > 16 ? call(Intrinsic::bits_float, x) : ir::cast(to, decoded(*find_float_format(to.name()), x));
  })};
}

}  // namespace

std::vector<OpDef> float_code() {
  return {
      {"float_decode", FusionKind::elementwise, infer_decode, decode_to_te, kExact, "The number that a code of a narrow floating-point format stands for"},
      {"float_encode", FusionKind::elementwise, infer_encode, encode_to_te, kExact, "The code of the nearest number of a narrow floating-point format"},
      {"bitcast", FusionKind::elementwise, infer_bitcast, bitcast_to_te, kExact, "The same bits in another element type"},
  };
}

}  // namespace tw::graph::ops
