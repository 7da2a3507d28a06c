// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/graph_diff.h"

#include <algorithm>
#include <map>
#include <string>

namespace tw::graph {

namespace {

/// Names of the nodes of a node's kernel, if it has more than one; a kernel of one node is as good as none.
std::vector<std::vector<std::string>> companions(const Graph& g) {
  std::map<int, std::vector<std::string>> members;
  for (const Node& n : g.nodes)
    if (n.group >= 0) members[n.group].push_back(n.name);
  for (auto& [group, names] : members) std::sort(names.begin(), names.end());
  std::vector<std::vector<std::string>> out(g.nodes.size());
  for (size_t i = 0; i < g.nodes.size(); ++i)
    if (const int group = g.nodes[i].group; group >= 0 && members[group].size() > 1) out[i] = members[group];
  return out;
}

bool same_values(const Graph& a, const std::vector<int>& x, const Graph& b, const std::vector<int>& y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](int v, int w) {
    if (v < 0 || w < 0) return v == w;
    const Value &p = a.values[static_cast<size_t>(v)], &q = b.values[static_cast<size_t>(w)];
    return p.name == q.name && p.type == q.type;
  });
}

}  // namespace

GraphDiff diff_graphs(const Graph& before, const Graph& after) {
  GraphDiff d;
  d.before.assign(before.nodes.size(), NodeChange::single);
  d.after.assign(after.nodes.size(), NodeChange::single);
  d.after_of.assign(before.nodes.size(), -1);
  d.before_of.assign(after.nodes.size(), -1);
  std::map<std::string_view, size_t> by_name;
  for (size_t i = 0; i < before.nodes.size(); ++i) by_name.emplace(before.nodes[i].name, i);
  const auto kernels_before = companions(before), kernels_after = companions(after);
  for (size_t a = 0; a < after.nodes.size(); ++a) {
    const Node& n = after.nodes[a];
    const auto it = by_name.find(n.name);
    if (it == by_name.end()) {
      ++d.made;
      continue;
    }
    const size_t b = it->second;
    const Node& m = before.nodes[b];
    const bool same = m.op == n.op && m.attrs == n.attrs && same_values(before, m.inputs, after, n.inputs) &&
                      same_values(before, m.outputs, after, n.outputs) && kernels_before[b] == kernels_after[a];
    d.before[b] = d.after[a] = same ? NodeChange::same : NodeChange::changed;
    d.changed += !same;
    d.after_of[b] = static_cast<int>(a), d.before_of[a] = static_cast<int>(b);
  }
  d.removed = static_cast<int>(std::count(d.before.begin(), d.before.end(), NodeChange::single));
  return d;
}

int line_of_node(const Graph& g, int node) {
  const auto constants = std::count_if(g.values.begin(), g.values.end(), [](const Value& v) { return v.constant != nullptr; });
  return 1 + static_cast<int>(g.inputs.size() + static_cast<size_t>(constants)) + node;
}

}  // namespace tw::graph
