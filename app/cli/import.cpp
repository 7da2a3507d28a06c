// SPDX-License-Identifier: Apache-2.0
// `tw import`: what is in a model file.
#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/network.h"
#include "app/cli/table.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

struct ImportArguments {
  NetworkOptions network;
  bool json = false, text = false;
};

void print_values(const char* title, const Json& values) {
  for (const Json& v : values) {
    print("{:<12} {}: {}{}\n", title, printable(v["name"].get<std::string>()), v["dtype"].get<std::string>(),
          shape_text(v["shape"].get<std::vector<int64_t>>()));
  }
}

int import_model(const ImportArguments& o) {
  int exit = kDone;
  const auto loaded = load_network(o.network, exit);
  if (!loaded) return exit;
  if (o.text) {
    put(graph::print(loaded->network.imported));
    return kDone;
  }
  const Json summary = network_summary(loaded->network);
  if (o.json) {
    print_json(summary);
    return kDone;
  }
  print("{:<12} {}\n", "network", printable(loaded->network.imported.name));
  print("{:<12} {}\n", "parameters", summary["parameters"].get<int64_t>());
  print("{:<12} {}\n", "work", si_text(summary["flops"].get<double>(), "FLOP"));
  print_values("input", summary["inputs"]);
  print_values("output", summary["outputs"]);
  print("{:<12} {} in {} kernels, {} of them different\n\n", "operators", summary["nodes"].get<int64_t>(), summary["groups"].get<int64_t>(),
        summary["tasks"].get<int64_t>());
  Table table({"operator", ">count"});
  for (const auto& [name, count] : summary["operators"].items()) table.row({name, std::to_string(count.get<int64_t>())});
  put(table.text());
  return kDone;
}

}  // namespace

void add_import(Subcommand app, Run& run) {
  auto o = std::make_shared<ImportArguments>();
  Subcommand sub = app.command(run, "import", "Reads a model file and says what is in it", o, import_model);
  add_network_options(sub, o->network);
  sub.flag("--text", o->text, "Prints the whole graph as text");
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
