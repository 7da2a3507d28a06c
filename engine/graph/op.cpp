// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/op.h"

#include <unordered_map>

#include "engine/graph/to_dag.h"

namespace tw::graph {

const char* fusion_kind_name(FusionKind k) {
  switch (k) {
    case FusionKind::elementwise:
      return "elementwise";
    case FusionKind::broadcast:
      return "broadcast";
    case FusionKind::injective:
      return "injective";
    case FusionKind::reduction:
      return "reduction";
    case FusionKind::out_elementwise_fusable:
      return "out_elementwise_fusable";
    case FusionKind::opaque:
      return "opaque";
  }
  return "";
}

const OpDef* find_op(std::string_view name) {
  static const std::unordered_map<std::string_view, const OpDef*> by_name = [] {
    std::unordered_map<std::string_view, const OpDef*> m;
    for (const OpDef& op : operators()) m.emplace(op.name, &op);
    return m;
  }();
  const auto it = by_name.find(name);
  return it == by_name.end() ? nullptr : it->second;
}

OpContext context_of(const Graph& g, const Node& n) {
  OpContext c;
  c.node = &n;
  for (const int v : n.inputs) {
    if (v < 0) {
      c.inputs.emplace_back();
      c.constants.emplace_back();
      continue;
    }
    const Value& value = g.values[static_cast<size_t>(v)];
    c.inputs.emplace_back(value.type);
    c.constants.push_back(value.constant);
  }
  for (const int v : n.outputs)
    if (v >= 0) c.outputs.push_back(g.values[static_cast<size_t>(v)].type);
  return c;
}

int64_t node_flops(const Graph& g, const Node& n) {
  const auto dag = to_dag(g, n);
  return dag ? te::flops(*dag->dag) : 0;
}

}  // namespace tw::graph
