// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/evaluate.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/graph/passes/widen_sums.h"
#include "engine/graph/to_dag.h"

namespace tw::graph {

Expected<std::vector<HostArray>> evaluate_op(const std::string& op, const Attrs& attrs, std::span<const std::shared_ptr<const HostArray>> operands,
                                             size_t outputs) {
  GraphBuilder b(op);
  std::vector<int> values;
  for (const auto& array : operands) values.push_back(array ? b.constant("p", array) : -1);
  TW_TRY(const std::vector<int> results, b.node(op, std::move(values), attrs, op, static_cast<int>(outputs)));
  for (const int v : results) b.output(v);
  TW_TRY(const Graph wide, widen_inner_sums(std::move(b).finish()));
  return evaluate(wide, {});
}

Expected<std::vector<HostArray>> evaluate_node(const Graph& g, const Node& node, std::span<const std::shared_ptr<const HostArray>> inputs) {
  if (sums_halves_inside(g, node)) return evaluate_op(node.op, node.attrs, inputs, node.outputs.size());
  TW_TRY(const NodesDag nodes, to_dag(g, node));
  std::vector<HostArray> arguments;
  for (const int v : nodes.inputs) {
    const auto at = std::find(node.inputs.begin(), node.inputs.end(), v) - node.inputs.begin();
    TW_ASSERT(inputs[static_cast<size_t>(at)] != nullptr, "an operand of node " + node.name);
    arguments.push_back(*inputs[static_cast<size_t>(at)]);
  }
  return te::interpret(*nodes.dag, arguments);
}

Expected<std::vector<HostArray>> evaluate(const Graph& g, const std::map<std::string, HostArray>& inputs) {
  std::vector<std::shared_ptr<const HostArray>> values(g.values.size());
  for (size_t v = 0; v < values.size(); ++v) values[v] = g.values[v].constant;
  for (const int v : g.inputs) {
    const Value& value = g.values[static_cast<size_t>(v)];
    const auto it = inputs.find(value.name);
    if (it == inputs.end()) return Error(ErrorCode::invalid_argument, fmt::format("Expected an array for input '{}', found none", printable(value.name)));
    const TensorType found{it->second.dtype, it->second.shape};
    if (found != value.type)
      return Error(ErrorCode::invalid_argument, fmt::format("Expected {} for input '{}', found {}", value.type.text(), printable(value.name), found.text()));
    values[static_cast<size_t>(v)] = std::make_shared<const HostArray>(it->second);
  }
  for (const Node& n : g.nodes) {
    std::vector<std::shared_ptr<const HostArray>> operands;
    for (const int v : n.inputs) operands.push_back(v < 0 ? nullptr : values[static_cast<size_t>(v)]);
    TW_TRY(std::vector<HostArray> results, evaluate_node(g, n, operands));
    for (size_t i = 0; i < n.outputs.size(); ++i) values[static_cast<size_t>(n.outputs[i])] = std::make_shared<const HostArray>(std::move(results[i]));
  }
  std::vector<HostArray> outputs;
  for (const int v : g.outputs) outputs.push_back(*values[static_cast<size_t>(v)]);
  return outputs;
}

}  // namespace tw::graph
