// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "engine/base/text.h"
#include "engine/graph/graph.h"
#include "engine/graph/limits.h"
#include "engine/graph/op.h"

namespace tw::graph {

namespace {

Error broken(const std::string& what, const std::string& where) { return Error(ErrorCode::invalid_argument, what, where); }

Expected<void> verify_values(const Graph& g) {
  std::set<std::string_view> names;
  const int n_nodes = static_cast<int>(g.nodes.size());
  for (const Value& v : g.values) {
    const std::string where = fmt::format("value '{}'", printable(v.name));
    if (v.name.empty() || !names.insert(v.name).second) return broken("Expected a unique name of every value", where);
    if (v.producer < -1 || v.producer >= n_nodes) return broken(fmt::format("Expected a producer below {}, found {}", n_nodes, v.producer), where);
    if (v.constant && v.producer != -1) return broken("Expected a constant without a producer", where);
    if (v.constant && (v.constant->dtype != v.type.dtype || v.constant->shape != v.type.shape))
      return broken(fmt::format("Expected constant data of type {}, found {}", v.type.text(), TensorType{v.constant->dtype, v.constant->shape}.text()), where);
    for (const int64_t d : v.type.shape)
      if (d < 0) return broken(fmt::format("Expected dimensions of at least 0, found {}", v.type.text()), where);
    if (!within_limits(v.type.shape)) return broken(fmt::format("Expected a tensor of at most 2^40 elements, found {}", v.type.text()), where);
  }
  for (const int v : g.inputs)
    if (v < 0 || v >= static_cast<int>(g.values.size()) || g.values[static_cast<size_t>(v)].producer != -1 || g.values[static_cast<size_t>(v)].constant)
      return broken("Expected graph inputs to be values without producer and data", fmt::format("input {}", v));
  std::set<int> inputs;
  for (const int v : g.inputs)
    if (!inputs.insert(v).second) return broken("Expected every graph input once", fmt::format("input {}", v));
  for (const int v : g.outputs)
    if (v < 0 || v >= static_cast<int>(g.values.size())) return broken("Expected graph outputs to be values of the graph", fmt::format("output {}", v));
  return {};
}

Expected<void> verify_inputs(const Graph& g, const Node& n, const std::vector<bool>& ready, const std::string& where) {
  for (const int v : n.inputs) {
    if (v == -1) continue;
    if (v < 0 || v >= static_cast<int>(g.values.size())) return broken(fmt::format("Expected inputs below {}, found {}", g.values.size(), v), where);
    if (!ready[static_cast<size_t>(v)])
      return broken(fmt::format("Expected '{}' to be computed before it is read", printable(g.values[static_cast<size_t>(v)].name)), where);
  }
  return {};
}

Expected<void> verify_outputs(const Graph& g, const Node& n, int index, const std::string& where) {
  const OpDef* def = find_op(n.op);
  if (!def) return Error(ErrorCode::unsupported, fmt::format("Expected an operator of the table, found '{}'", printable(n.op)), where);
  for (const int v : n.outputs)
    if (v < 0 || v >= static_cast<int>(g.values.size()) || g.values[static_cast<size_t>(v)].producer != index)
      return broken("Expected outputs that name the node as their producer", where);
  TW_TRY(const std::vector<TensorType> types, def->infer(context_of(g, n)));
  if (types.size() != n.outputs.size()) return broken(fmt::format("Expected {} outputs, found {}", types.size(), n.outputs.size()), where);
  for (size_t i = 0; i < types.size(); ++i) {
    const TensorType& found = g.values[static_cast<size_t>(n.outputs[i])].type;
    if (found != types[i]) return broken(fmt::format("Expected output {} of type {}, found {}", i, types[i].text(), found.text()), where);
  }
  return {};
}

}  // namespace

Expected<void> verify(const Graph& g) {
  TW_CHECK(verify_values(g));
  std::vector<bool> ready(g.values.size());
  for (size_t v = 0; v < g.values.size(); ++v) ready[v] = g.values[v].constant != nullptr;
  for (const int v : g.inputs) ready[static_cast<size_t>(v)] = true;
  std::set<std::string_view> names;
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const Node& n = g.nodes[i];
    const std::string where = fmt::format("node '{}' ({})", printable(n.name), printable(n.op));
    if (n.name.empty() || !names.insert(n.name).second) return broken("Expected a unique name of every node", where);
    TW_CHECK(verify_inputs(g, n, ready, where));
    TW_CHECK(verify_outputs(g, n, static_cast<int>(i), where));
    for (const int v : n.outputs) ready[static_cast<size_t>(v)] = true;
  }
  for (const int v : g.outputs)
    if (!ready[static_cast<size_t>(v)])
      return broken("Expected graph outputs to be computed", fmt::format("output '{}'", printable(g.values[static_cast<size_t>(v)].name)));
  return {};
}

}  // namespace tw::graph
