// SPDX-License-Identifier: Apache-2.0
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

struct Range {
  double low, high;
};
Range range_of(const OnnxNode& n, DType t) {
  if (t == kUInt8) return {0, 255};
  if (t == kInt8) return {-128, 127};
  if (t == kUInt16) return {0, 65535};
  if (t == kInt16) return {-32768, 32767};
  n.unsupported("quantisation to " + t.name());
}

/// round(x) + zero point, limited to the range of the zero point's type (uint8 without one).
int saturated(OnnxNode& n, int scaled, int zero_point, DType t) {
  const Range r = range_of(n, t);
  int v = n.emit("round", {scaled});
  if (zero_point >= 0) v = n.binary("add", v, n.cast(zero_point, n.dtype(v)));
  return n.cast(n.emit("clip", {v}, attrs({{"min", r.low}, {"max", r.high}})), t);
}

int quantize(OnnxNode& n, int x, int scale, int zero_point, int64_t axis) {
  const DType t = zero_point >= 0 ? n.dtype(zero_point) : kUInt8;
  const int s = along(n, n.cast(scale, n.dtype(x)), x, axis);
  return saturated(n, n.binary("div", x, s), zero_point >= 0 ? along(n, zero_point, x, axis) : -1, t);
}

Results quantize_linear(OnnxNode& n) {
  if (n.integer("block_size", 0) != 0) n.unsupported("quantisation by blocks");
  const int x = n.dtype(n.in(0)).is_float() ? n.in(0) : n.cast(n.in(0), kFloat32);
  return {quantize(n, x, n.in(1), n.optional(2), n.integer("axis", 1))};
}

/// (x - zero point) * scale, the difference in int32.
int dequantized(OnnxNode& n, int x, int scale, int zero_point, int64_t axis) {
  int v = n.cast(x, kInt32);
  if (zero_point >= 0) v = n.binary("sub", v, n.cast(along(n, zero_point, x, axis), kInt32));
  return n.binary("mul", n.cast(v, n.dtype(scale)), along(n, scale, x, axis));
}
Results dequantize_linear(OnnxNode& n) {
  if (n.integer("block_size", 0) != 0) n.unsupported("quantisation by blocks");
  return {dequantized(n, n.in(0), n.in(1), n.optional(2), n.integer("axis", 1))};
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
  return {quantize(n, x, scale, zero_point, 0), scale, zero_point};
}

/// An integer operand with its zero point taken off, in int32.
int without_zero_point(OnnxNode& n, int x, int zero_point, int64_t axis) {
  return n.binary("sub", n.cast(x, kInt32), n.cast(along(n, zero_point, x, axis), kInt32));
}

/// An int32 sum of products under the three scales of a quantised operator.
int requantized(OnnxNode& n, int sum, int scale_a, int scale_b, int64_t axis_b, int scale_y, int zero_y) {
  const int b = along(n, scale_b, sum, axis_b), a = along(n, scale_a, sum, 0);
  const int factor = n.binary("div", n.binary("mul", a, b), n.reshape(scale_y, {}));
  return saturated(n, n.binary("mul", n.cast(sum, n.dtype(factor)), factor), n.reshape(zero_y, {}), n.dtype(zero_y));
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
    {"DequantizeLinear", dequantize_linear}, {"DynamicQuantizeLinear", dynamic_quantize_linear},
    {"QLinearConv", qlinear_conv},           {"QLinearMatMul", qlinear_matmul},
    {"QuantizeLinear", quantize_linear},
};

}  // namespace

std::span<const OnnxOp> onnx_ops_quant() { return kQuantOps; }

}  // namespace tw::frontends
