// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/prune.h"

namespace tw::frontends {

namespace {

struct Needed {
  std::vector<bool> nodes, values;
};

Needed needed_by_outputs(const graph::Graph& g) {
  Needed n{std::vector<bool>(g.nodes.size()), std::vector<bool>(g.values.size())};
  for (const int v : g.outputs) n.values[static_cast<size_t>(v)] = true;
  for (size_t i = g.nodes.size(); i-- > 0;) {
    for (const int o : g.nodes[i].outputs) n.nodes[i] = n.nodes[i] || n.values[static_cast<size_t>(o)];
    if (!n.nodes[i]) continue;
    for (const int v : g.nodes[i].inputs)
      if (v >= 0) n.values[static_cast<size_t>(v)] = true;
    for (const int o : g.nodes[i].outputs) n.values[static_cast<size_t>(o)] = true;
  }
  for (const int v : g.inputs) n.values[static_cast<size_t>(v)] = true;
  return n;
}

}  // namespace

graph::Graph prune(graph::Graph g) {
  const Needed needed = needed_by_outputs(g);
  graph::Graph out;
  out.name = std::move(g.name);
  std::vector<int> new_value(g.values.size(), -1), new_node(g.nodes.size(), -1);
  int kept = 0;
  for (size_t i = 0; i < g.nodes.size(); ++i)
    if (needed.nodes[i]) new_node[i] = kept++;
  for (size_t v = 0; v < g.values.size(); ++v) {
    if (!needed.values[v]) continue;
    new_value[v] = static_cast<int>(out.values.size());
    graph::Value value = std::move(g.values[v]);
    if (value.producer >= 0) value.producer = new_node[static_cast<size_t>(value.producer)];
    out.values.push_back(std::move(value));
  }
  const auto renumber = [&](std::vector<int>& list) {
    for (int& v : list)
      if (v >= 0) v = new_value[static_cast<size_t>(v)];
  };
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    if (!needed.nodes[i]) continue;
    graph::Node node = std::move(g.nodes[i]);
    renumber(node.inputs);
    renumber(node.outputs);
    out.nodes.push_back(std::move(node));
  }
  out.inputs = std::move(g.inputs);
  out.outputs = std::move(g.outputs);
  renumber(out.inputs);
  renumber(out.outputs);
  return out;
}

}  // namespace tw::frontends
