// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/torch/aten.h"

namespace tw::frontends {

namespace {

// Quantisation as PyTorch's flows write it between operators: pairs that round to integers and back.
// Source: torch/ao/quantization/fx/_decomposed.py, signatures; values by the affine formula q = clamp(round(x / scale) + zero, low, high).

/// A scale or a zero point: a number, a tensor of one element, or one for each index of `axis`.
int quant_parameter(TorchNode& n, const char* name, const char* several, DType t, int64_t axis, int64_t rank) {
  const char* given = n.has(several) ? several : name;
  if (!n.has(given)) return n.scalar(t, 0);
  const int v = n.operand_in(given, t);
  if (n.type(v).num_elements() == 1) return n.reshape(v, {});
  if (axis < 0 || n.rank(v) != 1) n.invalid(fmt::format("a parameter of shape {}", shape_text(n.shape(v))));
  Dims shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(axis)] = n.shape(v)[0];
  return n.reshape(v, shape);
}

struct Affine {
  int scale, zero;  ///< floats that broadcast to the data
};
Affine affine_of(TorchNode& n, int x, DType t) {
  const int64_t axis = n.has("axis") ? n.axis(n.integer("axis", 0), n.rank(x)) : -1;
  return {quant_parameter(n, "scale", "scales", t, axis, n.rank(x)), quant_parameter(n, "zero_point", "zero_points", t, axis, n.rank(x))};
}

/// Integers, still as floats.
int rounded_to_range(TorchNode& n, int x, const Affine& a) {
  const int steps = n.binary("add", n.emit("round", {n.binary("div", x, a.scale)}), a.zero);
  return n.emit("clip", {steps}, attrs({{"min", n.real("quant_min", -128)}, {"max", n.real("quant_max", 127)}}));
}
int as_real_numbers(TorchNode& n, int steps, const Affine& a) { return n.binary("mul", n.binary("sub", steps, a.zero), a.scale); }

TorchResults quantize(TorchNode& n) {
  const int x = n.cast(n.tensor("input"), kFloat32);
  return n.one(n.cast(rounded_to_range(n, x, affine_of(n, x, kFloat32)), n.type_named("dtype", n.result_type())));
}
TorchResults dequantize(TorchNode& n) {
  const int x = n.cast(n.tensor("input"), kFloat32);
  return n.one(n.cast(as_real_numbers(n, x, affine_of(n, x, kFloat32)), n.type_named("out_dtype", kFloat32)));
}
TorchResults fake_quantize(TorchNode& n) {
  const int x = n.tensor("self");
  const Affine a = affine_of(n, x, n.dtype(x));
  return n.one(as_real_numbers(n, rounded_to_range(n, x, a), a));
}

constexpr AtenOp kAtenQuant[] = {
    {"aten.fake_quantize_per_channel_affine", fake_quantize},
    {"aten.fake_quantize_per_tensor_affine", fake_quantize},
    {"quantized_decomposed.dequantize_per_channel", dequantize},
    {"quantized_decomposed.dequantize_per_tensor", dequantize},
    {"quantized_decomposed.quantize_per_channel", quantize},
    {"quantized_decomposed.quantize_per_tensor", quantize},
};

}  // namespace

std::span<const AtenOp> aten_quant() { return kAtenQuant; }

}  // namespace tw::frontends
