// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/partition.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/graph/expression.h"
#include "engine/graph/to_dag.h"

namespace tw::graph {

namespace {

constexpr size_t kMaxNameOps = 8;

std::string group_name(const Graph& g, const std::vector<int>& nodes) {
  if (nodes.size() == 1 && g.nodes[static_cast<size_t>(nodes[0])].op == kExpression) return g.nodes[static_cast<size_t>(nodes[0])].name;  // its author's
  std::string name = "fused";
  for (size_t i = 0; i < std::min(nodes.size(), kMaxNameOps); ++i) name += "_" + g.nodes[static_cast<size_t>(nodes[i])].op;
  if (nodes.size() > kMaxNameOps) name += fmt::format("_and_{}_more", nodes.size() - kMaxNameOps);
  return name;
}

/// Members of each group in order of its last node: the order in which kernels can run.
std::vector<std::vector<int>> members(const Graph& g) {
  std::map<int, std::vector<int>> numbered;
  std::vector<std::vector<int>> all;
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    if (g.nodes[n].group < 0)
      all.push_back({static_cast<int>(n)});
    else
      numbered[g.nodes[n].group].push_back(static_cast<int>(n));
  }
  for (auto& [number, nodes] : numbered) all.push_back(std::move(nodes));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.back() < b.back(); });
  return all;
}

/// Values of the group that are read outside of it, in node order.
std::vector<int> outputs_of(const Graph& g, const std::vector<int>& nodes, const std::vector<std::vector<int>>& consumers) {
  const std::set<int> inside(nodes.begin(), nodes.end());
  std::vector<int> out;
  for (const int n : nodes)
    for (const int v : g.nodes[static_cast<size_t>(n)].outputs) {
      const std::vector<int>& readers = consumers[static_cast<size_t>(v)];
      const bool outside = std::any_of(readers.begin(), readers.end(), [&](int r) { return !inside.count(r); });
      if (outside || std::find(g.outputs.begin(), g.outputs.end(), v) != g.outputs.end()) out.push_back(v);
    }
  return out;
}

}  // namespace

Expected<Partition> partition(const Graph& g) {
  Partition p;
  std::map<std::string, int> workload_of;
  std::vector<bool> computed(g.values.size());
  for (size_t v = 0; v < g.values.size(); ++v) computed[v] = g.values[v].producer < 0;
  const std::vector<std::vector<int>> consumers = g.consumers();
  for (const std::vector<int>& nodes : members(g)) {
    Group group{.id = static_cast<int>(p.groups.size()), .nodes = nodes, .name = group_name(g, nodes)};
    group.outputs = outputs_of(g, nodes, consumers);
    if (group.outputs.empty()) continue;  // nothing reads it
    TW_TRY(NodesDag dag, to_dag(g, nodes, group.outputs));
    group.inputs = std::move(dag.inputs);
    group.dag = dag.dag;
    group.key = te::structural_key(*group.dag);
    for (const int v : group.inputs)
      if (!computed[static_cast<size_t>(v)])
        return Error(ErrorCode::invalid_argument,
                     fmt::format("Expected fused groups in an order in which they can run, found '{}' read before it is computed",
                                 printable(g.values[static_cast<size_t>(v)].name)),
                     "group " + group.name);
    for (const int v : group.outputs) computed[static_cast<size_t>(v)] = true;
    const auto [it, fresh] = workload_of.emplace(group.key, static_cast<int>(p.workloads.size()));
    if (fresh) p.workloads.push_back({.key = group.key, .name = group.name, .dag = group.dag});
    p.workloads[static_cast<size_t>(it->second)].groups.push_back(group.id);
    p.groups.push_back(std::move(group));
  }
  return p;
}

}  // namespace tw::graph
