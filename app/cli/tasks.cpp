// SPDX-License-Identifier: Apache-2.0
// `tw tasks`: what there is to tune.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/network.h"
#include "app/cli/space_text.h"
#include "app/cli/table.h"
#include "app/cli/workspace.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/cost/descent_program.h"
#include "engine/space/sketch/sketch.h"
#include "engine/te/dag.h"

namespace tw::cli {
namespace {

struct TasksArguments {
  NetworkOptions network;
  std::string db;
  bool json = false, sketches = false, space = false, formulas = false;
};

/// The rules that made a sketch, in their order, each with its stage.
std::string rules_text(const space::Sketch& sketch) {
  std::vector<std::string> parts;
  for (const space::RuleUse& use : sketch.derived) parts.push_back(fmt::format("{} of {}", use.rule, printable(use.stage)));
  return parts.empty() ? "as it is" : fmt::format("{}", fmt::join(parts, ", "));
}

/// What gradient descent can change of a sketch: nothing, and why, or its numbers and what limits them.
Expected<cost::DescentProgram> descent_of(const space::Sketch& sketch, const Target& target) {
  TW_TRY(space::OpenSchedule open, space::open_schedule(sketch, target));
  return cost::DescentProgram::make(std::move(open), target);
}

Json descent_json(const space::Sketch& sketch, const Target& target) {
  const auto program = descent_of(sketch, target);
  if (!program) return {{"open", false}, {"reason", program.error().text()}};
  Json variables = Json::array(), limits = Json::array(), groups = Json::array();
  for (const auto& v : program->variables()) variables.push_back({{"number", program->name(static_cast<size_t>(v.number))}, {"prime", v.prime}});
  for (const auto& g : program->schedule().groups) groups.push_back({{"extent", g.extent}, {"numbers", g.numbers.size()}});
  for (const auto& c : program->constraints()) limits.push_back({{"name", c.name}, {"linear", c.linear}});
  return {{"open", true}, {"variables", std::move(variables)}, {"splits", std::move(groups)}, {"limits", std::move(limits)}, {"stores", program->stores()}};
}

std::string descent_text(const space::Sketch& sketch, const Target& target) {
  const auto program = descent_of(sketch, target);
  if (!program) return "closed to gradient descent: " + program.error().text();
  std::vector<std::string> limits;
  for (const auto& c : program->constraints()) limits.push_back(printable(c.name));
  return fmt::format("{} exponents of {} lengths and {} other numbers{}", program->variables().size(),
                     std::accumulate(program->schedule().groups.begin(), program->schedule().groups.end(), size_t{0}, [](size_t n, const auto& g) { return n + g.numbers.size(); }),
                     program->schedule().free.size(), limits.empty() ? "" : fmt::format(", limited by {}", fmt::join(limits, ", ")));
}

/// Each feature of a sketch that depends on its numbers: its formula, its value at the numbers that the sketch's first schedule has, and by which exponent it
/// changes the most there.
std::string formulas_text(const records::Task& task) {
  std::string out;
  int number = 0;
  for (const space::Sketch& sketch : space::sketches(task.dag, task.target)) {
    const auto program = descent_of(sketch, task.target);
    out += fmt::format("  sketch {}: {}\n", number++, program ? "" : program.error().text());
    if (!program) continue;
    const std::vector<int64_t> numbers = space::numbers_of(program->schedule().steps);
    std::vector<double> x, gradient(program->variables().size());
    for (const auto& v : program->variables()) {
      double power = 0;
      for (int64_t n = numbers[static_cast<size_t>(v.number)]; n > 0 && n % v.prime == 0; n /= v.prime) ++power;
      x.push_back(power);
    }
    cost::DescentProgram::Pass pass;
    program->forward(x, 1, pass);
    std::vector<float> one(pass.features.size(), 0);
    for (size_t k = 0; k < pass.features.size(); ++k) {
      const size_t store = k / cost::kFelixColumns, column = k % cost::kFelixColumns;
      const std::string formula = program->formula(store, column);
      if (formula.find("ln ") == std::string::npos) continue;  // the same for all numbers
      one[k] = 1;
      program->backward(pass, one, {}, gradient);
      one[k] = 0;
      const auto most = std::max_element(gradient.begin(), gradient.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
      const auto& by = program->variables()[static_cast<size_t>(most - gradient.begin())];
      out += fmt::format("    {}, {} = {:.4g}, {:+.3g} by the power of {} in {}: {}\n", printable(program->stores()[store]), cost::felix_column(column), pass.features[k], *most, by.prime,
                         printable(program->name(static_cast<size_t>(by.number))), printable(formula));
    }
  }
  return out;
}

/// Tasks whose sketches differ in shapes alone.
size_t families(const std::vector<api::NetworkTask>& tasks) {
  std::set<uint64_t> all;
  for (const auto& t : tasks) all.insert(space::family_of(*t.task.dag));
  return all.size();
}

Json sketches_json(const records::Task& task) {
  Json list = Json::array();
  for (const space::Sketch& sketch : space::sketches(task.dag, task.target)) {
    Json rules = Json::array();
    for (const space::RuleUse& use : sketch.derived) rules.push_back({{"rule", use.rule}, {"stage", use.stage}});
    list.push_back({{"rules", std::move(rules)}, {"open_splits", sketch.open}, {"steps", schedule::to_json(sketch.steps)}, {"descent", descent_json(sketch, task.target)}});
  }
  return list;
}

std::string sketches_text(const records::Task& task) {
  std::string out;
  int number = 0;
  for (const space::Sketch& sketch : space::sketches(task.dag, task.target))
    out += fmt::format("  sketch {}: {} steps, {} splits to choose; {}\n", number++, sketch.steps.size(), sketch.open.size(), rules_text(sketch)) + "    " + descent_text(sketch, task.target) + "\n";
  return out;
}

/// What a workspace has of a task; nothing if it does not know it.
struct Standing {
  db::TimeKind kind = db::TimeKind::measured;
  db::TaskCounts counts;
};

Expected<std::vector<Standing>> standings(const std::string& path, const std::vector<api::NetworkTask>& tasks) {
  std::vector<Standing> all;
  if (path.empty()) return all;
  TW_TRY(const auto db, open_workspace(path, db::Mode::read_only));
  for (const auto& t : tasks) {
    TW_TRY(const auto row, db->task_by_key(t.task.key, t.constants));
    all.push_back(row ? Standing{row->kind(), row->counts()} : Standing());
  }
  return all;
}

int list_tasks(const TasksArguments& o) {
  int exit = kDone;
  const auto loaded = load_network(o.network, exit);
  if (!loaded) return exit;
  const auto tasks = api::network_tasks(loaded->network, loaded->target);
  const auto known = standings(o.db, tasks);
  if (!known) return fail_input(known.error());
  if (o.json) {
    Json list = Json::array();
    for (size_t i = 0; i < tasks.size(); ++i) {
      const auto& t = tasks[i];
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
      if (o.sketches) list.back().update({{"sketches", sketches_json(t.task)}, {"family", fmt::format("{:016x}", space::family_of(*t.task.dag))}});
      if (o.space) list.back()["knobs"] = knobs_json(t.task);
      if (known->empty()) continue;
      const auto& [kind, counts] = known->at(i);
      list.back().update({{"trials", counts.trials},
                          {"failures", counts.failures},
                          {"times", counts.trials > 0 ? Json(db::time_kind_name(kind)) : Json()},
                          {"default_s", json_number(counts.default_s)},
                          {"best_s", json_number(counts.best_s)},
                          {"speedup", json_number(counts.default_s / counts.best_s)},
                          {"best_session", counts.best_session ? Json(counts.best_session.value) : Json()}});
    }
    print_json({{"model", loaded->network.imported.name}, {"target", loaded->target.str()}, {"tasks", list}});
    return kDone;
  }
  std::vector<std::string> columns{"task", "key", ">weight", ">work", ">share", "space", ">size"};
  if (!known->empty()) columns.insert(columns.end(), {">trials", ">default", ">best", ">speed-up", "times"});
  Table table(columns);
  for (size_t i = 0; i < tasks.size(); ++i) {
    const auto& t = tasks[i];
    std::vector<std::string> row{t.task.name, t.task.key.substr(0, 10), std::to_string(t.weight), si_text(static_cast<double>(t.task.flops), "FLOP"),
                                 fmt::format("{:.1f} %", 100 * t.flops_share), t.space, std::to_string(t.space_size)};
    if (!known->empty()) {
      const auto& [kind, counts] = known->at(i);
      row.insert(row.end(), {std::to_string(counts.trials), time_text(counts.default_s), time_text(counts.best_s), ratio_text(counts.default_s / counts.best_s),
                             counts.trials > 0 ? db::time_kind_name(kind) : "-"});
    }
    table.row(std::move(row));
  }
  put(table.text());
  if (o.space)
    for (const auto& t : tasks) put(fmt::format("\n{} {}\n{}", t.task.name, t.task.key.substr(0, 10), knobs_text(t.task)));
  if (o.sketches)
    for (const auto& t : tasks) put(fmt::format("\n{} {}\n{}", t.task.name, t.task.key.substr(0, 10), sketches_text(t.task)));
  if (o.formulas)
    for (const auto& t : tasks) put(fmt::format("\n{} {}\n{}", t.task.name, t.task.key.substr(0, 10), formulas_text(t.task)));
  if (o.sketches) put(fmt::format("\nTasks: {}, of {} kinds that differ in more than shapes\n", tasks.size(), families(tasks)));
  return kDone;
}

}  // namespace

void add_tasks(Subcommand app, Run& run) {
  auto o = std::make_shared<TasksArguments>();
  Subcommand sub = app.command(run, "tasks", "Lists the tuning tasks of a network, heaviest first", o, list_tasks);
  add_network_options(sub, o->network);
  sub.flag("--space", o->space, "Also the knobs of each task's spaces, with what their values are");
  sub.flag("--sketches", o->sketches, "Also the sketches that the tuner ansor derives of each task, with the rules that made them and what gradient descent can change of them");
  sub.flag("--formulas", o->formulas, "Also the features that gradient descent sees of each sketch, as formulas of its numbers, with values and derivatives");
  sub.option("--db", o->db, "Workspace: what is known of each task, with its default schedule's time and its best").input();
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
