// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/frontends/onnx/importer.h"

namespace tw::frontends {

/// What is said of a file whose operators no other program has.
inline constexpr const char* kOfOneMachine = "ONNX Runtime wrote this file for one machine: have it save with the level 'extended' (ORT_ENABLE_EXTENDED)";

/// What an operator does with operands of a narrow element type (see ElementType).
enum class Narrow : uint8_t {
  refused,
  moved,  ///< moves elements around, whatever they are: results have the type of the first such operand
  taken,  ///< looks at the type itself
};

/// How one ONNX operator becomes nodes of ours: value indices of its outputs, kAbsent for outputs nobody asked for.
struct OnnxOp {
  const char* name;
  std::vector<int> (*convert)(OnnxNode&);
  Narrow narrow = Narrow::refused;
  const char* domain = "";  ///< ONNX's own if empty
};

/// The domain of what ONNX Runtime's optimiser, quantiser and model builder write. Source: ContribOperators.md of ONNX Runtime.
inline constexpr const char* kRuntimeDomain = "com.microsoft";

// Tables by topic; find_onnx_op searches all of them.
std::span<const OnnxOp> onnx_ops_attention();
std::span<const OnnxOp> onnx_ops_cast();
std::span<const OnnxOp> onnx_ops_elementwise();
std::span<const OnnxOp> onnx_ops_nn();
std::span<const OnnxOp> onnx_ops_norm();
std::span<const OnnxOp> onnx_ops_reduce();
std::span<const OnnxOp> onnx_ops_shape();
std::span<const OnnxOp> onnx_ops_indexing();
std::span<const OnnxOp> onnx_ops_constant();
std::span<const OnnxOp> onnx_ops_control();
std::span<const OnnxOp> onnx_ops_deform();
std::span<const OnnxOp> onnx_ops_dependent();
std::span<const OnnxOp> onnx_ops_loss();
std::span<const OnnxOp> onnx_ops_quant();
std::span<const OnnxOp> onnx_ops_resize();
std::span<const OnnxOp> onnx_ops_rnn();
std::span<const OnnxOp> onnx_ops_sequence();
std::span<const OnnxOp> onnx_ops_signal();
std::span<const OnnxOp> onnx_ops_state();
std::span<const OnnxOp> onnx_ops_vision();
std::span<const OnnxOp> onnx_ops_window();

/// A convolution of `operands` (data, weight and perhaps bias) with the node's strides, padding, dilations and groups.
int convolution(OnnxNode& n, const std::vector<int>& operands);
/// The mean over the node's windows of `x`, which has the shape of its first operand.
int average_pool_of(OnnxNode& n, int x);
/// The dimensions behind samples and channels of the first operand, which must have some.
Dims spatial_axes(const OnnxNode& n);
/// The matrix product as NumPy has it: vectors are promoted, a constant matrix on the right goes through `dense`.
int matmul_values(OnnxNode& n, int a, int b);
/// Multiplies by a constant factor unless it is 1.
int scaled(OnnxNode& n, int v, double factor);

ElementType element_named(const OnnxNode& n, int64_t data_type);
/// The numbers that values of a narrow element type stand for: codes as float32, integers as they are kept. Other values themselves.
int plain_values(OnnxNode& n, int v);
/// A value in another element type of ONNX. `saturate`: numbers too large for a narrow float become its largest; `power_rounding`: of formats that hold powers
/// of two alone.
int cast_element(OnnxNode& n, int v, int64_t data_type, bool saturate = true, const std::string& power_rounding = "up");

/// The operator of a domain, or null.
const OnnxOp* find_onnx_op(const std::string& domain, const std::string& name);

}  // namespace tw::frontends
