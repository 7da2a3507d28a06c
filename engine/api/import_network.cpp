// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/api/compile.h"
#include "engine/base/file.h"
#include "engine/base/text.h"
#include "engine/graph/expression.h"
#include "engine/measure/weights.h"
#include "engine/space/own/own.h"
#include "engine/space/template.h"

namespace tw::api {

namespace {

/// What is wrong with a text of one's own is said before it becomes a task.
Expected<void> checked(const std::string& text, const std::string& path, const Target& target) {
  const auto done = space::own::check(text, target);
  if (done) return {};
  Error e = done.error();
  e.where = e.where.empty() ? printable(path) : printable(path) + ", " + e.where;
  return e;
}

}  // namespace

Expected<Network> import_network(const std::string& path, const Target& target, const frontends::ImportOptions& options, const graph::PassHooks& hooks) {
  Network n;
  frontends::ImportOptions noted = options;
  noted.reading = &n.reading;
  TW_TRY(n.imported, frontends::read_model(path, noted));
  TW_TRY(n.content_key, file_content_key(path));
  if (const std::string* text = graph::text_of(n.imported)) TW_CHECK(checked(*text, path, target));
  graph::PassHooks watched = hooks;
  watched.after = [&](const graph::Pass& pass, const graph::Graph& before, const graph::Graph& after, double seconds, bool changed) {
    if (changed) n.passes.push_back({pass.name, static_cast<int64_t>(before.nodes.size()), static_cast<int64_t>(after.nodes.size())});
    if (hooks.after) hooks.after(pass, before, after, seconds, changed);
  };
  TW_TRY(n.optimized, graph::run_passes(n.imported, target, watched));
  TW_TRY(n.partition, graph::partition(n.optimized));
  n.enabled = hooks.enabled;
  return n;
}

records::Weights weights_of(const Network& network, const Target& target) {
  int64_t bytes = 0;
  for (const graph::Value& v : network.optimized.values) bytes += v.constant ? static_cast<int64_t>(v.constant->data.size()) : 0;
  return measure::weights_in_network(target, bytes);
}

std::vector<NetworkTask> network_tasks(const Network& network, const Target& target, const std::function<bool(int done, int total)>& progress) {
  std::vector<NetworkTask> tasks;
  const records::Weights constants = weights_of(network, target);
  double total = 0;
  for (const graph::Workload& w : network.partition.workloads) {
    if (progress && !progress(static_cast<int>(tasks.size()), static_cast<int>(network.partition.workloads.size()))) break;
    NetworkTask t{.task = records::make_task(w.name, w.dag, target), .weight = w.weight(), .constants = constants, .space = std::string(records::kDefaultSpace)};
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
