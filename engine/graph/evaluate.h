// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>

#include "engine/graph/graph.h"

namespace tw::graph {

/// Runs one operator through te::interpret; operands are null where absent. What it adds up of 16 bits before its last step it adds up in float32, as kernels do.
Expected<std::vector<HostArray>> evaluate_op(const std::string& op, const Attrs& attrs, std::span<const std::shared_ptr<const HostArray>> operands,
                                             size_t outputs);
/// The same of a node; `inputs` follow Node::inputs.
Expected<std::vector<HostArray>> evaluate_node(const Graph& g, const Node& node, std::span<const std::shared_ptr<const HostArray>> inputs);

/// Runs a graph node by node through te::interpret: the oracle that no pass, schedule or code generator can influence. Slow: for small graphs.
/// Errors: invalid_argument for missing inputs or wrong types.
Expected<std::vector<HostArray>> evaluate(const Graph& g, const std::map<std::string, HostArray>& inputs);

}  // namespace tw::graph
