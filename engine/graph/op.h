// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/graph/graph.h"
#include "engine/te/dag.h"

namespace tw::graph {

/// How an operator may be fused. Order matters: a group's kind is the maximum of its members'.
/// Source: operator fusion patterns of TVM's Relay (Chen et al., OSDI 2018).
enum class FusionKind : uint8_t { elementwise, broadcast, injective, reduction, out_elementwise_fusable, opaque };
const char* fusion_kind_name(FusionKind k);

/// What an operator sees of its node.
struct OpContext {
  const Node* node = nullptr;
  std::vector<std::optional<TensorType>> inputs;            ///< nullopt for absent optional inputs
  std::vector<std::shared_ptr<const HostArray>> constants;  ///< per input; null unless constant
  std::vector<TensorType> outputs;                          ///< filled for to_te
};

/// One row of the operator table.
struct OpDef {
  const char* name;  ///< ours: lower snake case, such as "conv2d"
  FusionKind fusion;
  Expected<std::vector<TensorType>> (*infer)(const OpContext&);
  /// The operator as tensor expressions, one tensor per output. Absent inputs are nullopt.
  Expected<std::vector<te::Tensor>> (*to_te)(te::DagBuilder&, const OpContext&, std::span<const std::optional<te::Tensor>> inputs);
  double tolerance;     ///< relative error allowed per operation against float64 for float32 operands, before scaling with reduction length
  const char* summary;  ///< one line for the workbench
};

/// The one list, in ops_table.cpp.
std::span<const OpDef> operators();
const OpDef* find_op(std::string_view name);

/// Context of a node of a graph.
OpContext context_of(const Graph& g, const Node& n);
/// Floating-point operations of one node, from its tensor expression.
int64_t node_flops(const Graph& g, const Node& n);

}  // namespace tw::graph
