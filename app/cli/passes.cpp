// SPDX-License-Identifier: Apache-2.0
// `tw passes`: what each pass of graph and kernels does to a network, and what leaving it out costs there.
#include <algorithm>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/network.h"
#include "app/cli/progress.h"
#include "app/cli/table.h"
#include "app/cli/workspace.h"
#include "engine/api/pass_cost.h"
#include "engine/api/pass_trace.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/graph/graph_diff.h"
#include "engine/tune/candidate.h"

namespace tw::cli {
namespace {

struct PassesArguments {
  NetworkOptions network;
  std::string db, device, kernel;
  std::vector<std::string> without;
  api::SelectionOptions selection;
  bool measure = false, json = false;
};

/// What one pass did to the network: of the graph to its nodes, of the kernels to how many of them.
struct PassEffects {
  bool ran = false;
  double seconds = 0;
  graph::GraphDiff nodes;
  int changed_kernels = 0, kernels = 0;
};
using EffectsByName = std::map<std::string, PassEffects>;

void add_graph_passes(const LoadedNetwork& loaded, EffectsByName& effects) {
  const api::PassTrace trace = api::trace_graph_passes(loaded.network, loaded.target);
  for (size_t i = 1; i < trace.passes.size(); ++i) {
    PassEffects& e = effects[trace.passes[i].name];
    e.ran = true;
    e.seconds = trace.passes[i].seconds;
    e.nodes = graph::diff_graphs(*trace.passes[i - 1].graph, *trace.passes[i].graph);
  }
}

/// Of the kernels with the schedules that tw compile would give them.
Expected<void> add_kernel_passes(const std::vector<api::NetworkTask>& tasks, db::Database* db, EffectsByName& effects) {
  Progress progress("Kernels", static_cast<int64_t>(tasks.size()));
  for (size_t t = 0; t < tasks.size(); ++t) {
    if (stop_token().stop_requested()) return Error(ErrorCode::cancelled, "Stopped while the passes ran");
    progress.update(static_cast<int64_t>(t), tasks[t].task.name);
    std::optional<records::Record> best;
    if (db) {
      TW_TRY(best, db->best(tasks[t].task.key, tasks[t].constants));
    }
    const records::Candidate candidate = best ? best->candidate : tune::default_candidate(tasks[t].task);
    std::map<std::string, bool> changed;  // a pass may run more than once
    const api::PassTrace trace = api::trace_passes(tasks[t].task, candidate.steps);
    for (size_t i = 1; i < trace.passes.size(); ++i) {
      changed[trace.passes[i].name] |= trace.passes[i].changed;
      effects[trace.passes[i].name].seconds += trace.passes[i].seconds;
    }
    for (const auto& [name, is] : changed) {
      PassEffects& e = effects[name];
      e.ran = true;
      ++e.kernels;
      e.changed_kernels += is;
    }
  }
  return {};
}

std::string effect_text(const api::PassFacts& pass, const PassEffects& e) {
  if (!e.ran) return pass.optional ? "runs only where it is asked for" : "does not run for this target";
  if (!pass.of_graph) return fmt::format("{} of {} kernels", e.changed_kernels, e.kernels);
  const auto& d = e.nodes;
  return d.made + d.removed + d.changed == 0 ? "no node" : fmt::format("{} nodes made, {} removed, {} changed", d.made, d.removed, d.changed);
}

Json effect_json(const api::PassFacts& pass, const PassEffects& e) {
  Json j = {{"name", pass.name},
            {"of", pass.of_graph ? "graph" : "kernels"},
            {"summary", pass.summary},
            {"source", pass.source},
            {"optional", pass.optional},
            {"needed", pass.needed.empty() ? Json() : Json(pass.needed)},
            {"ran", e.ran},
            {"seconds", e.seconds}};
  if (pass.of_graph)
    j["nodes"] = {{"made", e.nodes.made}, {"removed", e.nodes.removed}, {"changed", e.nodes.changed}};
  else
    j["kernels"] = {{"changed", e.changed_kernels}, {"all", e.kernels}};
  return j;
}

std::string both(const std::string& with, const std::string& without) { return with == without ? with : with + " -> " + without; }

std::string costs_table(const std::vector<api::PassCost>& costs) {
  Table table({"without", ">time without / with", ">with", ">without", "verdict", ">kernels", ">with a record", ">activations", ">code"});
  for (const api::PassCost& c : costs) {
    const auto bytes = [](int64_t n) { return si_text(static_cast<double>(n), "B"); };
    const auto sizes = [&](auto text) { return c.without.calls > 0 ? both(text(c.with), text(c.without)) : text(c.with); };
    table.row({c.pass, c.measured ? fmt::format("{:.3f} ({:.3f} to {:.3f})", c.ratio.ratio, c.ratio.low, c.ratio.high) : "-",
               c.measured ? time_text(c.with_s) : "-", c.measured ? time_text(c.without_s) : "-", api::verdict_text(c),
               sizes([](const api::NetworkSize& s) { return std::to_string(s.calls); }),
               sizes([](const api::NetworkSize& s) { return std::to_string(s.tuned); }), sizes([&](const api::NetworkSize& s) { return bytes(s.arena_bytes); }),
               sizes([&](const api::NetworkSize& s) { return bytes(s.code_bytes); })});
  }
  return table.text();
}

Json cost_json(const api::PassCost& c) {
  const auto size = [](const api::NetworkSize& s) {
    return Json{{"calls", s.calls}, {"kernels", s.kernels}, {"with_record", s.tuned}, {"arena_bytes", s.arena_bytes}, {"code_bytes", s.code_bytes}};
  };
  return {{"pass", c.pass},
          {"task", c.task.empty() ? Json() : Json(c.task)},
          {"verdict", api::verdict_name(c)},
          {"says", api::verdict_text(c)},
          {"measured", c.measured},
          {"ratio", c.measured ? Json{{"ratio", json_number(c.ratio.ratio)}, {"low", json_number(c.ratio.low)}, {"high", json_number(c.ratio.high)}} : Json()},
          {"with_s", c.measured ? Json(c.with_s) : Json()},
          {"without_s", c.measured ? Json(c.without_s) : Json()},
          {"with", size(c.with)},
          {"without", c.without.calls > 0 ? size(c.without) : Json()},
          {"launches", c.launches}};
}

/// The passes that the command line names, or all that run for the network and may be left out.
std::vector<std::string> wanted(const PassesArguments& o, const EffectsByName& effects) {
  if (!o.without.empty()) return o.without;
  std::vector<std::string> names;
  for (const api::PassFacts& p : api::all_passes())
    if (const auto e = effects.find(p.name); p.needed.empty() && e != effects.end() && e->second.ran) names.push_back(p.name);
  return names;
}

int passes(const PassesArguments& o) {
  if (const auto names = api::left_out(o.without); !names) return fail_usage(names.error().message);
  api::PassCostRequest request;
  request.selection = o.selection;
  int exit = kDone;
  const auto loaded = load_network(o.network, exit);
  if (!loaded) return exit;
  std::shared_ptr<db::Database> db;
  if (!o.db.empty()) {
    auto opened = open_workspace(o.db, db::Mode::read_only);
    if (!opened) return fail_input(opened.error());
    db = std::move(*opened);
  }
  std::vector<api::NetworkTask> tasks = api::network_tasks(loaded->network, loaded->target);
  if (!o.kernel.empty()) {
    const auto chosen = std::find_if(tasks.begin(), tasks.end(), [&](const auto& t) { return t.task.name == o.kernel || t.task.key.starts_with(o.kernel); });
    if (chosen == tasks.end())
      return fail_usage(fmt::format("Expected a name or the beginning of a key that `tw tasks` lists, found '{}'", printable(o.kernel)));
    tasks = {*chosen};
    request.task = tasks[0].task.key;
  }
  EffectsByName effects;
  if (o.kernel.empty()) add_graph_passes(*loaded, effects);
  if (const auto done = add_kernel_passes(tasks, db.get(), effects); !done) return fail(done.error());
  std::vector<api::PassCost> costs;
  if (o.measure || !o.without.empty()) {
    request.network = &loaded->network;
    request.target = &loaded->target;
    request.records = db.get();
    request.device = o.device.empty() ? measure::device_for(loaded->target) : o.device;
    request.passes = wanted(o, effects);
    request.measure = o.measure;
    request.stop = stop_token();
    Progress progress("Passes", static_cast<int64_t>(request.passes.size()));
    request.progress = [&](const std::string& what, int done, int) { progress.update(done, what); };
    auto found = api::pass_costs(request);
    progress.finish();
    if (!found) return fail(found.error());
    costs = std::move(*found);
    api::sort_by_cost(costs);
  }
  const auto shown = [&](const api::PassFacts& p) {
    return (o.kernel.empty() || !p.of_graph) && (o.without.empty() || std::find(o.without.begin(), o.without.end(), p.name) != o.without.end());
  };
  if (o.json) {
    Json list = Json::array(), worth = Json::array();
    for (const api::PassFacts& p : api::all_passes())
      if (shown(p)) list.push_back(effect_json(p, effects[p.name]));
    for (const api::PassCost& c : costs) worth.push_back(cost_json(c));
    print_json({{"passes", list}, {"costs", worth}});
    return kDone;
  }
  Table table({"pass", "of", ">time", "changed", "may be left out"});
  for (const api::PassFacts& p : api::all_passes()) {
    const PassEffects& e = effects[p.name];
    if (shown(p))
      table.row(
          {p.name, p.of_graph ? "graph" : "kernels", e.ran ? time_text(e.seconds) : "-", effect_text(p, e), p.needed.empty() ? "yes" : "no: " + p.needed});
  }
  print("{}", table.text());
  for (const api::PassFacts& p : api::all_passes())
    if (shown(p)) print("\n{}: {} ({})\n", p.name, p.summary, p.source);
  if (!costs.empty()) print("\n{}", costs_table(costs));
  return kDone;
}

}  // namespace

void add_passes(Subcommand app, Run& run) {
  auto o = std::make_shared<PassesArguments>();
  Subcommand sub =
      app.command(run, "passes", "What each pass of graph and kernels does to a network, how long it takes, and what leaving it out costs", o, passes);
  add_network_options(sub, o->network);
  sub.option("--without", o->without,
             "Compile without this pass, too, and compare what comes of it; may be repeated. Without it --measure takes every pass that may be left out");
  sub.flag("--measure", o->measure,
           "Run the network with all passes and without, by turns in fresh processes, as tw finals does, until it is sure which is faster");
  sub.option("--kernel", o->kernel, "Name, or the beginning of a key, that `tw tasks` lists: passes of this task's kernels only");
  sub.option("--db", o->db, "Database with the records; tasks without one get the default schedule").input();
  sub.option("--device", o->device, "What runs the network: local, or cuda:0 and so on; what there is for the target if absent");
  sub.duration("--time", o->selection.time_s, "Time for each pass, after which what is still in doubt stays so, such as 90s");
  sub.option("--seed", o->selection.seed, "Seed of the inputs and of the order of runs").show_default();
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
