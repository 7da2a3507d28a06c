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

/// An integer operand in int32 with its zero point taken off, if it has one.
int without_zero_point(OnnxNode& n, int x, int zero_point, int64_t axis) {
  if (zero_point < 0) return n.cast(x, kInt32);
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

// Operators of ONNX Runtime's quantiser: they compute with the numbers that their operands stand for.

/// What integers stand for: (x - zero point) * scale, from operands i, i + 1 and i + 2.
int number_of(OnnxNode& n, int x, int scale, int zero_point) {
  return n.binary("mul", n.cast(without_zero_point(n, x, zero_point, 1), n.dtype(scale)), along(n, scale, x, 1));
}
int number_at(OnnxNode& n, int i) { return number_of(n, n.in(i), n.in(i + 1), n.optional(i + 2)); }
/// A number as an integer again, under the scale and zero point of operands i and i + 1; of the element type of the first operand without a zero point.
int integer_at(OnnxNode& n, int v, int i, int typed_like) {
  const int zero_point = n.optional(i + 1), divided = n.binary("div", v, n.reshape(n.in(i), {}));
  return saturated(n, divided, zero_point >= 0 ? n.reshape(zero_point, {}) : -1, element_named(n, n.element_type(zero_point >= 0 ? zero_point : typed_like)));
}

Results qlinear_add(OnnxNode& n) { return {integer_at(n, n.binary("add", number_at(n, 0), number_at(n, 3)), 6, n.in(0))}; }
Results qlinear_mul(OnnxNode& n) { return {integer_at(n, n.binary("mul", number_at(n, 0), number_at(n, 3)), 6, n.in(0))}; }
Results qlinear_sigmoid(OnnxNode& n) { return {integer_at(n, n.emit("sigmoid", {number_at(n, 0)}), 3, n.in(0))}; }
Results qlinear_leaky_relu(OnnxNode& n) {
  return {integer_at(n, n.emit("leaky_relu", {number_at(n, 0)}, attrs({{"alpha", n.real("alpha", 0.01)}})), 3, n.in(0))};
}
/// `opset`: before 13 all dimensions from the axis on are taken together.
Results qlinear_softmax(OnnxNode& n) {
  const int x = number_at(n, 0);
  const int64_t axis = n.axis(n.integer("axis", -1), n.rank(x));
  if (n.integer("opset", 13) < 13 && axis + 1 != n.rank(x)) n.unsupported("a softmax over several dimensions");
  return {integer_at(n, n.emit("softmax", {x}, attrs({{"axis", axis}})), 3, n.in(0))};
}

void channels_first(const OnnxNode& n) {
  if (n.integer("channels_last", 0)) n.unsupported(fmt::format("channels last; {}", kOfOneMachine));
}
Results qlinear_average_pool(OnnxNode& n) {
  channels_first(n);
  return {integer_at(n, average_pool_of(n, number_at(n, 0)), 3, n.in(0))};
}
Results qlinear_global_average_pool(OnnxNode& n) {
  channels_first(n);
  return {integer_at(n, n.reduce("reduce_mean", number_at(n, 0), spatial_axes(n), true), 3, n.in(0))};
}
Results qlinear_conv_of_runtime(OnnxNode& n) {
  channels_first(n);
  return qlinear_conv(n);
}
/// Operands: the result's scale and zero point, then data, scale and zero point of each part.
Results qlinear_concat(OnnxNode& n) {
  if (n.num_inputs() < 5 || (n.num_inputs() - 2) % 3 != 0) n.invalid(fmt::format("expected 2 operands and 3 for each part, found {}", n.num_inputs()));
  std::vector<int> parts;
  for (int i = 2; i < n.num_inputs(); i += 3) parts.push_back(number_at(n, i));
  return {integer_at(n, n.concat(parts, n.axis(n.integer("axis", 0), n.rank(parts[0]))), 0, n.in(2))};
}

/// alpha * A * B in integers, with C under the scale of the product; a number, or an integer again where the result has a scale.
Results qgemm(OnnxNode& n) {
  const auto turned = [&n](int v, const char* attribute) { return n.integer(attribute, 0) ? n.transpose(v, {1, 0}) : v; };
  if (n.rank(n.in(0)) != 2 || n.rank(n.in(3)) != 2) n.invalid("expected two matrices");
  // Parameters of B are those of the product's columns.
  const int a = turned(without_zero_point(n, n.in(0), n.in(2), 0), "transA"), b = turned(n.in(3), "transB"), scale_b = n.in(4);
  int sum = n.binary("matmul", a, without_zero_point(n, b, n.in(5), -1));
  const int factor = n.with_scalar("mul", n.binary("mul", n.reshape(n.in(1), {}), along(n, scale_b, sum, -1)), n.real("alpha", 1));
  if (n.has(6)) sum = n.binary("add", sum, n.in(6));
  const int v = n.binary("mul", n.cast(sum, n.dtype(factor)), factor);
  return {n.has(7) ? integer_at(n, v, 7, n.in(0)) : v};
}

/// An int32 product as a number, and a bias.
int product_with_bias(OnnxNode& n, int sum, int scale_a, int scale_b, int bias) {
  const int factor = n.binary("mul", n.reshape(scale_a, {}), along(n, scale_b, sum, -1));
  const int v = n.binary("mul", n.cast(sum, n.dtype(factor)), factor);
  return bias >= 0 ? n.binary("add", v, bias) : v;
}
Results matmul_integer_to_float(OnnxNode& n) {
  const int a = without_zero_point(n, n.in(0), n.optional(4), -2), b = without_zero_point(n, n.in(1), n.optional(5), -1);
  return {product_with_bias(n, n.binary("matmul", a, b), n.in(2), n.in(3), n.optional(6))};
}
/// Numbers that are quantised by their own extremes first.
Results dynamic_quantize_matmul(OnnxNode& n) {
  const Results x = dynamic_quantize_linear(n);
  const int a = without_zero_point(n, x[0], x[2], 0), b = without_zero_point(n, n.in(1), n.optional(3), -1);
  return {product_with_bias(n, n.binary("matmul", a, b), x[1], n.in(2), n.optional(4))};
}

/// A product with a matrix of few bits an element, [columns, blocks, bytes], each block of a column with a scale and a zero point: the matrix is unpacked here.
Results matmul_nbits(OnnxNode& n) {
  const int64_t k = n.integer("K", 0), columns = n.integer("N", 0), bits = n.integer("bits", 4), block = n.integer("block_size", 0);
  if (bits != 2 && bits != 4 && bits != 8) n.unsupported(fmt::format("{} bits an element", bits));
  if (k < 1 || columns < 1 || block < 16 || (block & (block - 1)) != 0 || k > (int64_t{1} << 31) / columns)
    n.invalid(fmt::format("expected sizes of a matrix and blocks of 16 or a larger power of two, found {}, {}, {}", k, columns, block));
  if (n.has(4)) n.unsupported("groups in another order");
  const int64_t blocks = (k + block - 1) / block, each = 8 / bits, blob = block / each, row = (blocks + each - 1) / each;
  const HostArray &packed = n.constant_input(1, "the matrix"), &scales = n.constant_input(2, "the scales");
  const HostArray* zeros = n.has(3) ? &n.constant_input(3, "the zero points") : nullptr;
  const bool zeros_packed = zeros && zeros->dtype == kUInt8;
  if (packed.num_elements() != columns * blocks * blob || scales.num_elements() != columns * blocks ||
      (zeros && zeros->num_elements() != columns * (zeros_packed ? row : blocks)))
    n.invalid(fmt::format("{} bytes, {} scales do not fit {} columns of {} blocks", packed.num_elements(), scales.num_elements(), columns, blocks));
  const int64_t mask = (int64_t{1} << bits) - 1;
  const auto code = [&](const HostArray& bytes, int64_t first, int64_t i) { return (bytes.get_int(first + i / each) >> (i % each * bits)) & mask; };
  HostArray matrix = HostArray::make(kFloat32, {k, columns});
  for (int64_t c = 0; c < columns; ++c)
    for (int64_t b = 0; b < blocks; ++b) {
      const double scale = scales.get(c * blocks + b);
      const double zero = !zeros ? static_cast<double>(int64_t{1} << (bits - 1)) : zeros_packed ? static_cast<double>(code(*zeros, c * row, b)) : zeros->get(c * blocks + b);
      for (int64_t i = 0; i < block && b * block + i < k; ++i)
        matrix.set((b * block + i) * columns + c, (static_cast<double>(code(packed, (c * blocks + b) * blob, i)) - zero) * scale);
    }
  const int v = matmul_values(n, n.in(0), n.cast(n.constant(std::move(matrix)), n.dtype(n.in(0))));
  return {n.has(5) ? n.binary("add", v, n.in(5)) : v};
}

/// Bytes of two codes each, the lower bits first, as codes: the last dimension becomes `extent` long.
int unpacked(OnnxNode& n, int bytes, int64_t extent) {
  Dims s = n.shape(bytes);
  if (s.empty() || (extent + 1) / 2 != s.back()) n.invalid(fmt::format("expected bytes of {} codes of 4 bits, found {}", extent, shape_text(s)));
  s.back() *= 2;
  const int codes = n.reshape(n.stack({n.with_scalar("bitwise_and", bytes, 15), n.with_scalar("shift_right", bytes, 4)}, n.rank(bytes)), s);
  return n.slice(codes, n.rank(codes) - 1, 0, extent);
}

/// Rows of a table of few bits an element, each block of it with a scale and a zero point. They are gathered first: such tables are large.
Results gather_block_quantized(OnnxNode& n) {
  const int table = n.in(0), indices = n.in(1), scales = n.in(2);
  const int64_t bits = n.integer("bits", 4), block = n.integer("block_size", 128), rank = n.rank(table);
  const bool bytes = !n.narrow(table) && n.dtype(table) == kUInt8, packed = bytes && bits == 4;
  if (bits != 4 && bits != 8) n.unsupported(fmt::format("{} bits an element", bits));
  const int64_t from = n.axis(n.integer("gather_axis", 0), rank), blocked = n.axis(n.integer("quantize_axis", 1), rank);
  if (from == blocked || (packed && (blocked != rank - 1 || from == rank - 1)))
    n.invalid(fmt::format("expected blocks along another dimension than {}, which is gathered from, and packed ones along the last, found {}", from, blocked));
  const auto gathered = [&](int v) { return n.emit("gather", {plain_values(n, v), indices}, attrs({{"axis", from}})); };
  const auto codes = [&](int v, int64_t extent) { return n.cast(packed ? unpacked(n, gathered(v), extent) : gathered(v), kInt32); };
  const int64_t extent = n.shape(table)[static_cast<size_t>(blocked)] * (packed ? 2 : 1), axis = blocked > from ? blocked + n.rank(indices) - 1 : blocked;
  const int scale = gathered(scales);
  int v = codes(table, extent);
  if (n.has(3))
    v = n.binary("sub", v, by_block(n, codes(n.in(3), (extent + block - 1) / block), v, axis, block));
  else if (bytes)
    v = n.with_scalar("sub", v, static_cast<double>(int64_t{1} << (bits - 1)));
  return {n.binary("mul", n.cast(v, n.dtype(scale)), by_block(n, scale, v, axis, block))};
}

constexpr OnnxOp kQuantOps[] = {
    {"DequantizeLinear", dequantize_linear, Narrow::taken}, {"DynamicQuantizeLinear", dynamic_quantize_linear},
    {"QLinearConv", qlinear_conv},           {"QLinearMatMul", qlinear_matmul},
    {"QuantizeLinear", quantize_linear, Narrow::taken},
    {"DequantizeLinear", dequantize_linear, Narrow::taken, kRuntimeDomain},
    {"DynamicQuantizeMatMul", dynamic_quantize_matmul, Narrow::refused, kRuntimeDomain},
    {"GatherBlockQuantized", gather_block_quantized, Narrow::taken, kRuntimeDomain},
    {"MatMulIntegerToFloat", matmul_integer_to_float, Narrow::refused, kRuntimeDomain},
    {"MatMulNBits", matmul_nbits, Narrow::refused, kRuntimeDomain},
    {"QGemm", qgemm, Narrow::refused, kRuntimeDomain},
    {"QLinearAdd", qlinear_add, Narrow::refused, kRuntimeDomain},
    {"QLinearAveragePool", qlinear_average_pool, Narrow::refused, kRuntimeDomain},
    {"QLinearConcat", qlinear_concat, Narrow::refused, kRuntimeDomain},
    {"QLinearConv", qlinear_conv_of_runtime, Narrow::refused, kRuntimeDomain},
    {"QLinearGlobalAveragePool", qlinear_global_average_pool, Narrow::refused, kRuntimeDomain},
    {"QLinearLeakyRelu", qlinear_leaky_relu, Narrow::refused, kRuntimeDomain},
    {"QLinearMul", qlinear_mul, Narrow::refused, kRuntimeDomain},
    {"QLinearSigmoid", qlinear_sigmoid, Narrow::refused, kRuntimeDomain},
    {"QLinearSoftmax", qlinear_softmax, Narrow::refused, kRuntimeDomain},
    {"QuantizeLinear", quantize_linear, Narrow::taken, kRuntimeDomain},
};

}  // namespace

std::span<const OnnxOp> onnx_ops_quant() { return kQuantOps; }

}  // namespace tw::frontends
