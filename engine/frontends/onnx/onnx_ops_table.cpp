// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

const OnnxOp* find_onnx_op(const std::string& domain, const std::string& name) {
  static const std::unordered_map<std::string, const OnnxOp*> index = [] {
    std::unordered_map<std::string, const OnnxOp*> m;
    for (const auto table : {onnx_ops_attention(), onnx_ops_cast(), onnx_ops_constant(), onnx_ops_control(), onnx_ops_deform(), onnx_ops_dependent(), onnx_ops_elementwise(), onnx_ops_indexing(),
                             onnx_ops_loss(), onnx_ops_nn(), onnx_ops_norm(), onnx_ops_quant(), onnx_ops_reduce(), onnx_ops_resize(), onnx_ops_rnn(),
                             onnx_ops_sequence(), onnx_ops_shape(), onnx_ops_signal(), onnx_ops_state(), onnx_ops_vision(), onnx_ops_window()})
      for (const OnnxOp& op : table) m.emplace(std::string(op.domain) + ":" + op.name, &op);
    return m;
  }();
  const auto it = index.find((domain == "ai.onnx" ? "" : domain) + ":" + name);
  return it == index.end() ? nullptr : it->second;
}

}  // namespace tw::frontends
