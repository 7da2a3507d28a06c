// SPDX-License-Identifier: Apache-2.0
// `tw agent`: this machine as a device of a farm, by the program that is copied to other devices.
#include <unistd.h>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "engine/process/find_program.h"

namespace tw::cli {
namespace {

struct AgentArguments {
  std::string line, name, folder, cooldown, gpu, worker;
};

int join(const AgentArguments& o) {
  const auto program = process::find_program("tw-agent", "which measures for a farm", "");
  if (!program) return fail(program.error());
  std::vector<std::string> arguments{"tw-agent", "join", o.line};
  for (const auto& [option, value] : {std::pair{"--name", &o.name}, std::pair{"--folder", &o.folder}, std::pair{"--cooldown", &o.cooldown},
                                      std::pair{"--gpu", &o.gpu}, std::pair{"--worker", &o.worker}}) {
    if (value->empty()) continue;
    arguments.emplace_back(option);
    arguments.push_back(*value);
  }
  std::vector<char*> pointers;
  for (std::string& a : arguments) pointers.push_back(a.data());
  pointers.push_back(nullptr);
  ::execv(program->c_str(), pointers.data());
  return fail(system_error("Starting the agent", *program));
}

}  // namespace

void add_agent(Subcommand app, Run& run) {
  Subcommand agent = app.group("agent", "This machine as a device of a farm");
  auto o = std::make_shared<AgentArguments>();
  Subcommand sub = agent.command(run, "join", "Measures for a farm until it is stopped; runs code that comes from the farm's queue", o, join);
  sub.option("line", o->line, "What `tw farm up` prints; '-' reads it from standard input").required();
  sub.option("--name", o->name, "Name of the device; the host's name if absent. Two on one machine need two names");
  sub.option("--folder", o->folder, "Folder for results that wait to be sent and the device's state");
  sub.option("--cooldown", o->cooldown, "Seconds between measurements");
  sub.option("--gpu", o->gpu, "A GPU of this machine to measure on, such as cuda:0, instead of its processors");
  sub.option("--worker", o->worker, "Path of tw-worker, which owns the GPU");
}

}  // namespace tw::cli
