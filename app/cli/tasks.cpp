// SPDX-License-Identifier: Apache-2.0
// `tw tasks`: what there is to tune.
#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/network.h"
#include "app/cli/table.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/te/dag.h"

namespace tw::cli {
namespace {

struct TasksArguments {
  NetworkOptions network;
  bool json = false;
};

int list_tasks(const TasksArguments& o) {
  int exit = kDone;
  const auto loaded = load_network(o.network, exit);
  if (!loaded) return exit;
  const auto tasks = api::network_tasks(loaded->network, loaded->target);
  if (o.json) {
    Json list = Json::array();
    for (const auto& t : tasks) {
      Json others = Json::array();
      for (const auto& [name, size] : t.other_spaces) others.push_back({{"space", name}, {"space_size", size}});
      list.push_back({{"name", t.task.name},
                      {"key", t.task.key},
                      {"weight", t.weight},
                      {"flops", t.task.flops},
                      {"flops_share", t.flops_share},
                      {"space", t.space},
                      {"space_size", t.space_size},
                      {"other_spaces", others}});
    }
    print_json({{"model", loaded->network.imported.name}, {"target", loaded->target.str()}, {"tasks", list}});
    return kDone;
  }
  Table table({"task", "key", ">weight", ">work", ">share", "space", ">size"});
  for (const auto& t : tasks) {
    table.row({t.task.name, t.task.key.substr(0, 10), std::to_string(t.weight), si_text(static_cast<double>(t.task.flops), "FLOP"),
               fmt::format("{:.1f} %", 100 * t.flops_share), t.space, std::to_string(t.space_size)});
  }
  put(table.text());
  return kDone;
}

}  // namespace

void add_tasks(Subcommand app, Run& run) {
  auto o = std::make_shared<TasksArguments>();
  Subcommand sub = app.command(run, "tasks", "Lists the tuning tasks of a network, heaviest first", o, list_tasks);
  add_network_options(sub, o->network);
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
