// SPDX-License-Identifier: Apache-2.0
// `tw import`: what is in a model file.
#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/network.h"
#include "app/cli/table.h"
#include "app/logs/network_summary.h"
#include "engine/api/import_apart.h"
#include "engine/api/import_messages.h"
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

/// The value of each open size in an imported graph: what the first dimension has that it decides. Of an input that is one integer: what it was fixed at, or nothing.
std::vector<std::optional<int64_t>> chosen_sizes(const std::vector<frontends::OpenSize>& sizes, const std::map<std::string, int64_t>& given, const graph::Graph& g) {
  std::vector<std::optional<int64_t>> out;
  for (const frontends::OpenSize& s : sizes) {
    if (s.is_input) {
      const auto fixed = given.find(s.name);
      out.push_back(fixed == given.end() ? std::nullopt : std::optional(fixed->second));
      continue;
    }
    int64_t value = s.proposal;
    for (const int v : g.inputs) {
      const graph::Value& input = g.values[static_cast<size_t>(v)];
      for (size_t d = 0; d < input.type.shape.size(); ++d)
        if (s.places.front() == fmt::format("{}.{}", input.name, d)) value = input.type.shape[d];
    }
    out.push_back(value);
  }
  return out;
}

/// What reading simplified, folded and expanded, and what the passes made of it.
std::string changes_text(const api::Network& n) {
  Table read({"operator of the file", ">uses", ">computed", ">left out", ">expanded", ">operators"});
  bool any = false;
  for (const frontends::OperatorReading& r : n.reading) {
    if (r.computed + r.left_out + r.expanded == 0) continue;
    any = true;
    read.row({r.name, std::to_string(r.uses), std::to_string(r.computed), std::to_string(r.left_out), std::to_string(r.expanded), std::to_string(r.operators)});
  }
  Table passes({"pass", ">operators before", ">after"});
  for (const api::PassEffect& p : n.passes) passes.row({p.name, std::to_string(p.before), std::to_string(p.after)});
  return (any ? read.text() + "\n" : "") + passes.text() + "\n";
}

int import_model(const ImportArguments& o) {
  int exit = kDone;
  const auto loaded = load_network(o.network, exit);
  if (!loaded) return exit;
  if (o.text) {
    put(graph::print(loaded->network.imported));
    return kDone;
  }
  Json summary = logs::network_summary(loaded->network);
  const auto sizes = api::open_sizes_apart(o.network.model, {}, stop_token());
  if (!sizes) return fail_input(sizes.error());
  const auto given = import_options(o.network.dims);
  if (!given) return fail_input(given.error());
  const auto chosen = chosen_sizes(*sizes, given->dims, loaded->network.imported);
  const Json done = api::reading_to_json(loaded->network);
  summary["reading"] = done["reading"];
  summary["passes"] = done["passes"];
  if (o.json) {
    summary["sizes"] = Json::array();
    for (size_t k = 0; k < sizes->size(); ++k) {
      const frontends::OpenSize& s = (*sizes)[k];
      summary["sizes"].push_back(
          {{"name", s.name}, {"places", s.places}, {"least", s.least}, {"most", s.most < 0 ? Json(nullptr) : Json(s.most)}, {"value", chosen[k] ? Json(*chosen[k]) : Json(nullptr)}});
    }
    print_json(summary);
    return kDone;
  }
  print("{:<12} {}\n", "network", printable(loaded->network.imported.name));
  print("{:<12} {}\n", "parameters", summary["parameters"].get<int64_t>());
  print("{:<12} {}\n", "work", si_text(summary["flops"].get<double>(), "FLOP"));
  print_values("input", summary["inputs"]);
  print_values("output", summary["outputs"]);
  for (size_t k = 0; k < sizes->size(); ++k) {
    const frontends::OpenSize& s = (*sizes)[k];
    if (s.is_input) {
      print("{:<12} {}: {}\n", "integer", printable(s.name), chosen[k] ? fmt::format("fixed at {}", *chosen[k]) : fmt::format("an input, which --dim {}=VALUE fixes", printable(s.name)));
      continue;
    }
    print("{:<12} {} = {}, {}: {}\n", "size", printable(s.name), *chosen[k], s.most < 0 ? fmt::format("{} or more", s.least) : fmt::format("from {} to {}", s.least, s.most),
          printable(fmt::format("{}", fmt::join(s.places, ", "))));
  }
  print("{:<12} {} in {} kernels, {} of them different\n\n", "operators", summary["nodes"].get<int64_t>(), summary["groups"].get<int64_t>(),
        summary["tasks"].get<int64_t>());
  print("{}", changes_text(loaded->network));
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
