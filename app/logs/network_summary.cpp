// SPDX-License-Identifier: Apache-2.0
#include "app/logs/network_summary.h"

#include <map>

#include "engine/base/json.h"
#include "engine/graph/expression.h"
#include "engine/graph/op.h"

namespace tw::logs {
namespace {

Json value_list(const graph::Graph& g, const std::vector<int>& values) {
  Json list = Json::array();
  for (int v : values) {
    const graph::Value& value = g.values[v];
    list.push_back({{"name", value.name}, {"dtype", value.type.dtype.name()}, {"shape", value.type.shape}});
  }
  return list;
}

}  // namespace

Json network_summary(const api::Network& network) {
  const graph::Graph& g = network.imported;
  std::map<std::string, int64_t> operators;
  int64_t flops = 0;
  for (const graph::Node& n : g.nodes) {
    ++operators[n.op];
    flops += graph::node_flops(g, n);
  }
  Json counts = Json::object();
  for (const auto& [name, count] : operators) counts[name] = count;
  Json summary = {{"name", g.name},
          {"nodes", g.nodes.size()},
          {"operators", counts},
          {"parameters", g.parameter_count()},
          {"flops", flops},
          {"inputs", value_list(g, g.inputs)},
          {"outputs", value_list(g, g.outputs)},
          {"groups", network.partition.groups.size()},
          {"tasks", network.partition.workloads.size()},
          {"content_key", network.content_key}};
  if (const std::string* text = graph::text_of(g)) summary["text"] = *text;
  return summary;
}

}  // namespace tw::logs
