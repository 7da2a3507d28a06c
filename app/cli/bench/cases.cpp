// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench/cases.h"

#include <algorithm>

#include "engine/base/hash.h"
#include "engine/base/text.h"
#include "engine/space/template.h"

namespace tw::cli::bench {

Expected<void> load_cases(const Bench& bench, const Target& target, Cases& cases) {
  const Options& o = bench.options;
  TW_TRY(cases.list, suite_cases(o.suite, o.kind == "gpu"));
  std::erase_if(cases.list, [&](const KernelCase& c) { return c.name.find(o.only) == std::string::npos; });
  if (cases.list.empty()) return Error(ErrorCode::invalid_argument, fmt::format("No case's name has '{}' in it", printable(o.only)));
  if (o.quick) cases.list.resize(1);
  graph::GraphBuilder b("bench " + o.suite);
  std::string names;
  for (const KernelCase& c : cases.list) {
    TW_CHECK(add_case(b, c, make_data(c, o.seed)));
    names += c.name + "\n";
  }
  api::Network& network = cases.network.network;
  cases.network.target = target;
  network.imported = std::move(b).finish();
  network.content_key = fmt::format("{:016x}", stable_hash(names));
  TW_TRY(network.optimized, graph::run_passes(network.imported, target));
  TW_TRY(network.partition, graph::partition(network.optimized));
  const auto& groups = network.partition.groups;
  for (size_t i = 0; i < cases.list.size(); ++i) {
    const int output = network.optimized.outputs[i];
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const graph::Group& g) { return std::find(g.outputs.begin(), g.outputs.end(), output) != g.outputs.end(); });
    if (group == groups.end() || groups.size() != cases.list.size())
      return Error(ErrorCode::internal, fmt::format("Expected one kernel for each case, found {} for {} cases", groups.size(), cases.list.size()));
    cases.groups.push_back(&*group);
  }
  return {};
}

Expected<ChosenSchedule> choose_schedule(const Bench& bench, const records::Task& task) {
  TW_TRY(const auto row, bench.db->task_by_key(task.key));
  const int64_t trials = row ? row->counts().trials : 0;
  TW_TRY(const auto record, bench.db->best(task.key, records::Weights::unknown));
  if (!record) return ChosenSchedule{space::default_schedule(task.dag, task.target), trials, false};
  TW_TRY(schedule::Schedule best, schedule::Schedule::replay(task.dag, record->candidate.steps));
  return ChosenSchedule{std::move(best), trials, true};
}

}  // namespace tw::cli::bench
