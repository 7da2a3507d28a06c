// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

/// A scalar or per-channel parameter shaped so that it broadcasts along `axis` of `like`.
int along(OnnxNode& n, int parameter, int like, int64_t axis) {
  if (n.rank(parameter) == 0 || n.shape(parameter) == Dims{1}) return n.reshape(parameter, {});
  if (n.rank(parameter) != 1) n.unsupported(fmt::format("quantisation parameters of shape {}", shape_text(n.shape(parameter))));
  Dims shape(static_cast<size_t>(n.rank(like)), 1);
  shape[static_cast<size_t>(n.axis(axis, n.rank(like)))] = n.shape(parameter)[0];
  return n.reshape(parameter, shape);
}

/// A parameter of blocks of `block` elements along `axis`, repeated for each of them.
int by_block(OnnxNode& n, int parameter, int like, int64_t axis, int64_t block) {
  const Dims &p = n.shape(parameter), &x = n.shape(like);
  bool fits = p.size() == x.size() && block >= 1;
  for (size_t d = 0; fits && d < x.size(); ++d) fits = static_cast<int64_t>(d) == axis ? p[d] == (x[d] + block - 1) / block : p[d] == x[d];
  if (!fits) n.invalid(fmt::format("parameters {} for data {} in blocks of {} along axis {}", shape_text(p), shape_text(x), block, axis));
  Dims table;
  for (int64_t i = 0; i < x[static_cast<size_t>(axis)]; ++i) table.push_back(i / block);
  return n.emit("gather", {parameter, n.integers_constant(table)}, attrs({{"axis", axis}}));
}

/// A parameter in the shape of the data: one for all, one a channel, or one a block.
int spread(OnnxNode& n, int parameter, int like) {
  const int64_t block = n.integer("block_size", 0);
  if (block == 0) return along(n, parameter, like, n.integer("axis", 1));
  return by_block(n, parameter, like, n.axis(n.integer("axis", 1), n.rank(like)), block);
}

struct Range {
  double low, high;
};
Range range_of(const ElementType& t) {
  return t.storage.is_signed() ? Range{-std::ldexp(1.0, t.bits - 1), std::ldexp(1.0, t.bits - 1) - 1} : Range{0, std::ldexp(1.0, t.bits) - 1};
}

/// round(x) + zero point, limited to the range of the result's type.
int saturated(OnnxNode& n, int scaled, int zero_point, const ElementType& t) {
  const Range r = range_of(t);
  int v = n.emit("round", {scaled});
  if (zero_point >= 0) v = n.binary("add", v, n.cast(zero_point, n.dtype(v)));
  return n.cast(n.emit("clip", {v}, attrs({{"min", r.low}, {"max", r.high}})), t.storage);
}

DType float_named(const OnnxNode& n, const std::string& attribute, DType fallback) {
  const int64_t given = n.integer(attribute, 0);
  if (given == 0) return fallback;
  const ElementType type = element_named(n, given);
  if (type.is_narrow() || !type.storage.is_float()) n.unsupported("numbers of element type " + onnx_dtype_name(given));
  return type.storage;
}

bool is_zero(const OnnxNode& n, int v) {
  const HostArray* c = n.constant_of(v);
  if (!c) return false;
  for (int64_t i = 0; i < c->num_elements(); ++i)
    if (c->get(i) != 0) return false;
  return true;
}

/// x / scale + zero point in the type of the zero point, else in that of `output_dtype`, else in uint8. The scale's type is that of the division unless
/// `precision` names one.
Results quantize_linear(OnnxNode& n) {
  const int64_t asked = n.integer("output_dtype", 0), type = n.has(2) ? n.element_type(n.in(2)) : asked != 0 ? asked : onnx_of_dtype(kUInt8);
  const ElementType target = element_named(n, type);
  if (!target.format && (!target.storage.is_int() || target.bits > 16)) n.unsupported("quantisation to " + onnx_dtype_name(type));
  const int scale = plain_values(n, n.in(1));
  const DType own = n.dtype(scale).is_float() ? n.dtype(scale) : n.dtype(n.in(0)).is_float() ? n.dtype(n.in(0)) : kFloat32;
  const DType t = float_named(n, "precision", own);
  const int x = n.cast(n.in(0), t), divided = n.binary("div", x, spread(n, n.cast(scale, t), x));
  if (!target.format) {
    const int y = saturated(n, divided, n.has(2) ? spread(n, n.in(2), x) : -1, target);
    return {target.is_narrow() ? n.narrowed(y, type) : y};
  }
  int shifted = divided;
  if (n.has(2)) {
    const int zero = plain_values(n, n.in(2));
    if (!is_zero(n, zero)) shifted = n.binary("add", shifted, spread(n, n.cast(zero, t), x));
  }
  return {cast_element(n, shifted, type, n.integer("saturate", 1) != 0)};
}

/// (x - zero point) * scale; the difference of integers in int32.
Results dequantize_linear(OnnxNode& n) {
  const int scale = plain_values(n, n.in(1));
  const DType t = float_named(n, "output_dtype", n.dtype(scale));
  int v = plain_values(n, n.in(0));
  const bool integers = !n.dtype(v).is_float();
  if (integers) v = n.cast(v, kInt32);
  if (n.has(2)) {
    const int zero = plain_values(n, n.in(2));
    if (!is_zero(n, zero)) v = n.binary("sub", v, n.cast(spread(n, zero, v), n.dtype(v)));
  }
  return {n.binary("mul", n.cast(v, t), n.cast(spread(n, scale, v), t))};
}

/// Scale and zero point from the extremes of the data, 0 included. Source: DynamicQuantizeLinear in the ONNX operator reference.
Results dynamic_quantize_linear(OnnxNode& n) {
  const int x = n.in(0);
  const auto extreme = [&](const char* reduce, const char* with_zero) {
    return n.with_scalar(with_zero, n.emit(reduce, {x}, attrs({{"keepdims", int64_t{0}}})), 0);
  };
  const int high = extreme("reduce_max", "max"), low = extreme("reduce_min", "min");
  const int scale = n.with_scalar("div", n.binary("sub", high, low), 255);
  const int from_low = n.binary("div", n.binary("sub", n.scalar(n.dtype(x), 0), low), scale);
  const int zero_point = n.cast(n.emit("round", {n.emit("clip", {from_low}, attrs({{"min", 0.0}, {"max", 255.0}}))}), kUInt8);
  return {saturated(n, n.binary("div", x, scale), zero_point, element_named(n, onnx_of_dtype(kUInt8))), scale, zero_point};
}

/// An integer operand with its zero point taken off, in int32.
int without_zero_point(OnnxNode& n, int x, int zero_point, int64_t axis) {
  return n.binary("sub", n.cast(x, kInt32), n.cast(along(n, zero_point, x, axis), kInt32));
}

/// An int32 sum of products under the three scales of a quantised operator.
int requantized(OnnxNode& n, int sum, int scale_a, int scale_b, int64_t axis_b, int scale_y, int zero_y) {
  const int b = along(n, scale_b, sum, axis_b), a = along(n, scale_a, sum, 0);
  const int factor = n.binary("div", n.binary("mul", a, b), n.reshape(scale_y, {}));
  return saturated(n, n.binary("mul", n.cast(sum, n.dtype(factor)), factor), n.reshape(zero_y, {}), element_named(n, n.element_type(zero_y)));
}

Results qlinear_matmul(OnnxNode& n) {
  const int a = without_zero_point(n, n.in(0), n.in(2), -2), b = without_zero_point(n, n.in(3), n.in(5), -1);
  return {requantized(n, n.binary("matmul", a, b), n.in(1), n.in(4), -1, n.in(6), n.in(7))};
}

Results qlinear_conv(OnnxNode& n) {
  const int x = without_zero_point(n, n.in(0), n.in(2), 1), w = without_zero_point(n, n.in(3), n.in(5), 0);
  std::vector<int> operands{x, w};
  if (n.has(8)) operands.push_back(n.in(8));
  return {requantized(n, convolution(n, operands), n.in(1), n.in(4), 1, n.in(6), n.in(7))};
}

constexpr OnnxOp kQuantOps[] = {
    {"DequantizeLinear", dequantize_linear, Narrow::taken}, {"DynamicQuantizeLinear", dynamic_quantize_linear},
    {"QLinearConv", qlinear_conv},           {"QLinearMatMul", qlinear_matmul},
    {"QuantizeLinear", quantize_linear, Narrow::taken},
};

}  // namespace

std::span<const OnnxOp> onnx_ops_quant() { return kQuantOps; }

}  // namespace tw::frontends
