// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/frontends/onnx/importer.h"

namespace tw::frontends {

/// How one ONNX operator becomes nodes of ours: value indices of its outputs, -1 for outputs nobody asked for.
struct OnnxOp {
  const char* name;
  std::vector<int> (*convert)(OnnxNode&);
};

// Tables by topic; find_onnx_op searches all of them.
std::span<const OnnxOp> onnx_ops_elementwise();
std::span<const OnnxOp> onnx_ops_nn();
std::span<const OnnxOp> onnx_ops_norm();
std::span<const OnnxOp> onnx_ops_reduce();
std::span<const OnnxOp> onnx_ops_shape();
std::span<const OnnxOp> onnx_ops_indexing();
std::span<const OnnxOp> onnx_ops_constant();
std::span<const OnnxOp> onnx_ops_control();
std::span<const OnnxOp> onnx_ops_loss();
std::span<const OnnxOp> onnx_ops_quant();
std::span<const OnnxOp> onnx_ops_resize();
std::span<const OnnxOp> onnx_ops_rnn();
std::span<const OnnxOp> onnx_ops_signal();
std::span<const OnnxOp> onnx_ops_vision();
std::span<const OnnxOp> onnx_ops_window();

/// A convolution of `operands` (data, weight and perhaps bias) with the node's strides, padding, dilations and groups.
int convolution(OnnxNode& n, const std::vector<int>& operands);

const OnnxOp* find_onnx_op(const std::string& name);

}  // namespace tw::frontends
