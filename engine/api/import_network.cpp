// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/api/compile.h"
#include "engine/base/file.h"
#include "engine/space/template.h"

namespace tw::api {

Expected<Network> import_network(const std::string& path, const Target& target, const frontends::ImportOptions& options, const graph::PassHooks& hooks) {
  TW_TRY(graph::Graph imported, frontends::read_model(path, options));
  TW_TRY(std::string key, file_content_key(path));
  TW_TRY(graph::Graph optimized, graph::run_passes(imported, target, hooks));
  TW_TRY(graph::Partition partition, graph::partition(optimized));
  return Network{std::move(imported), std::move(optimized), std::move(partition), std::move(key)};
}

std::vector<NetworkTask> network_tasks(const Network& network, const Target& target) {
  std::vector<NetworkTask> tasks;
  double total = 0;
  for (const graph::Workload& w : network.partition.workloads) {
    NetworkTask t{.task = records::make_task(w.name, w.dag, target), .weight = w.weight(), .space = std::string(records::kDefaultSpace)};
    int64_t points = 0;
    const std::vector<const space::Template*> searched = space::alternatives(*w.dag, target);
    for (const space::Template* found : searched) {
      t.space = points ? t.space + " + " + found->name : found->name;
      points += found->space(*w.dag, target).size();
    }
    t.space_size = std::max<int64_t>(1, points);
    for (const space::Template* other : space::find_templates(*w.dag, target))
      if (std::find(searched.begin(), searched.end(), other) == searched.end()) t.other_spaces.emplace_back(other->name, other->space(*w.dag, target).size());
    t.flops_share = static_cast<double>(t.task.flops) * t.weight;
    total += t.flops_share;
    tasks.push_back(std::move(t));
  }
  for (NetworkTask& t : tasks) t.flops_share = total > 0 ? t.flops_share / total : 0;
  std::stable_sort(tasks.begin(), tasks.end(), [](const NetworkTask& a, const NetworkTask& b) { return a.flops_share > b.flops_share; });
  return tasks;
}

}  // namespace tw::api
