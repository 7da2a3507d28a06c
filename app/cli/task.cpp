// SPDX-License-Identifier: Apache-2.0
// `tw task`: computations of one's own, written as texts with their templates.
#include <algorithm>
#include <charconv>
#include <filesystem>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/network.h"
#include "app/cli/space_text.h"
#include "app/cli/table.h"
#include "app/cli/tuning.h"
#include "app/cli/workspace.h"
#include "engine/api/explain.h"
#include "engine/api/loop_play.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/space/own/operators.h"
#include "engine/te/source.h"

namespace tw::cli {
namespace {

/// A text that a person may have changed is never written over.
const FileKind kNewText{"a computation that is as it was created", [](std::string_view) { return false; }};

std::string first_sentence(const std::string& text) {
  std::string comment = te::leading_comment(text);
  std::replace(comment.begin(), comment.end(), '\n', ' ');
  return comment.substr(0, std::min(comment.find(". "), comment.find(": ")));
}

std::string params_text(const te::Source& source) {
  std::vector<std::string> parts;
  for (const te::Param& p : source.params) {
    if (p.derived) continue;
    const auto* type = std::get_if<DType>(&p.value);
    parts.push_back(fmt::format("{}={}", p.name, type ? type->name() : std::to_string(std::get<int64_t>(p.value))));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

struct OperatorsOptions {
  bool json = false;
};

int list_operators(const OperatorsOptions& o) {
  Json all = Json::array();
  Table table({"operator", "parameters", "what it is"});
  for (const space::own::Operator& op : space::own::operators()) {
    const auto source = te::parse_source(op.text);
    if (!source) return fail(source.error());
    table.row({op.name, params_text(*source), first_sentence(op.text)});
    all.push_back({{"name", op.name}, {"parameters", params_text(*source)}, {"summary", te::leading_comment(op.text)}});
  }
  if (o.json)
    print_json({{"operators", all}});
  else
    put(table.text());
  return kDone;
}

struct ShowOptions {
  std::string name;
};

int show_operator(const ShowOptions& o) {
  const space::own::Operator* op = space::own::find_operator(o.name);
  if (!op) return fail_usage(fmt::format("Expected an operator of `tw task list`, found '{}'", printable(o.name)));
  put(op->text);
  return kDone;
}

struct CreateOptions {
  NetworkOptions network;
  std::vector<std::string> args;
  std::string dtype, output, db;
  bool json = false;
};

/// The text that a person asked for: a bundled operator's or a file's, with their arguments.
Expected<std::string> text_of(const CreateOptions& o) {
  std::string text;
  if (const space::own::Operator* op = space::own::find_operator(o.network.model)) {
    text = op->text;
  } else {
    TW_TRY(text, read_file(o.network.model));
  }
  std::vector<int64_t> numbers;
  for (const std::string& a : o.args) {
    int64_t v = 0;
    const auto [end, error] = std::from_chars(a.data(), a.data() + a.size(), v);
    if (error != std::errc() || end != a.data() + a.size())
      return Error(ErrorCode::invalid_argument, fmt::format("Expected integers in --args, found '{}'", printable(a)));
    numbers.push_back(v);
  }
  std::optional<DType> dtype;
  if (!o.dtype.empty()) {
    TW_TRY(dtype, parse_dtype(o.dtype));
  }
  if (numbers.empty() && !dtype) return text;
  return te::with_args(text, numbers, dtype);
}

Expected<void> enter(const CreateOptions& o, const LoadedNetwork& loaded, const std::string& path, const std::vector<api::NetworkTask>& tasks) {
  if (o.db.empty()) return {};
  TW_TRY(const auto db, open_workspace(o.db));
  TW_TRY([[maybe_unused]] const StoredNetwork stored, store_network(*db, loaded, std::filesystem::absolute(path).string(), tasks));
  return {};
}

int create_task(const CreateOptions& o) {
  const bool bundled = space::own::find_operator(o.network.model) != nullptr;
  const bool changes = !o.args.empty() || !o.dtype.empty();
  if (!bundled && !frontends::is_expression(o.network.model))
    return fail_usage(fmt::format("Expected an operator of `tw task list` or a file that ends in .te, found '{}'", printable(o.network.model)));
  if (!bundled && changes && o.output.empty()) return fail_usage("Expected --output for the text with other arguments");
  std::string path = o.output.empty() ? o.network.model + (bundled ? ".te" : "") : o.output;
  if (!frontends::is_expression(path)) return fail_usage(fmt::format("Expected an output that ends in .te, found '{}'", printable(path)));
  if (bundled || !o.output.empty()) {
    const auto text = text_of(o);
    if (!text) return fail(text.error());
    if (auto r = check_output(path, kNewText); !r) return fail(r.error());
    if (auto r = write_file(path, kNewText, *text); !r) return fail(r.error());
  }
  NetworkOptions file = o.network;
  file.model = path;
  int exit = kDone;
  const auto loaded = load_network(file, exit);
  if (!loaded) return exit;
  const auto tasks = api::network_tasks(loaded->network, loaded->target);
  if (auto r = enter(o, *loaded, path, tasks); !r) return fail_input(r.error());
  const records::Task& task = tasks.front().task;
  if (o.json) {
    print_json({{"path", path},
                {"name", task.name},
                {"key", task.key},
                {"target", loaded->target.str()},
                {"flops", task.flops},
                {"space", tasks.front().space},
                {"space_size", tasks.front().space_size},
                {"knobs", knobs_json(task)}});
    return kDone;
  }
  print("{:<10} {}\n{:<10} {}\n{:<10} {}\n", "file", printable(path), "task", task.name, "key", task.key);
  for (const te::Op& op : task.dag->ops)
    if (op.is_placeholder()) print("{:<10} {}: {}{}\n", "array", printable(op.name), op.output->dtype.name(), shape_text(op.output->shape));
  for (const int out : task.dag->outputs) {
    const te::Op& op = task.dag->ops[static_cast<size_t>(out)];
    print("{:<10} {}: {}{}\n", "result", printable(op.name), op.output->dtype.name(), shape_text(op.output->shape));
  }
  print("{:<10} {}\n{:<10} {} of {}\n\n{}", "work", si_text(static_cast<double>(task.flops), "FLOP"), "points", tasks.front().space_size, tasks.front().space,
        knobs_text(task));
  return kDone;
}

struct CacheOptions {
  NetworkOptions network;
  std::string task, db, steps;
  int64_t point = -1, first = -1, limit = api::LoopPlayOptions().limit;
  int smaller_caches = 1;
  bool own_sizes = false, json = false;
};

/// The steps that a person asked for, or those of the default schedule.
Expected<std::vector<schedule::Step>> steps_of(const CacheOptions& o, const api::NetworkTask& chosen) {
  const records::Task& task = chosen.task;
  std::vector<schedule::Step> steps;
  if (!o.steps.empty()) {
    TW_TRY(const Json json, parse_json(o.steps));
    TW_TRY(steps, schedule::steps_from_json(json));
  } else if (!o.db.empty()) {
    TW_TRY(const auto db, open_workspace(o.db, db::Mode::read_only));
    TW_TRY(const auto best, db->best(task.key, chosen.constants));
    if (!best) return Error(ErrorCode::not_found, "Expected a trial of the task in the workspace, found none", o.db);
    steps = best->candidate.steps;
  } else if (o.point >= 0) {
    TW_TRY(const records::Candidate c, api::candidate_at(task, o.point));
    steps = c.steps;
  } else {
    steps = tune::default_candidate(task).steps;
  }
  if (o.first > static_cast<int64_t>(steps.size()))
    return Error(ErrorCode::invalid_argument, fmt::format("Expected at most {} in --first, which is how many steps there are, found {}", steps.size(), o.first));
  if (o.first >= 0) steps.resize(static_cast<size_t>(o.first));
  return steps;
}

const char* home_name(simulate::PlayArray::Home home) {
  return home == simulate::PlayArray::Home::memory ? "memory" : home == simulate::PlayArray::Home::shared ? "shared" : "registers";
}

Json counts_json(const simulate::PlayCounts& c, bool gpu) {
  Json out = {{"loads", c.loads}, {"stores", c.stores}, {"lookups", c.lookups}, {"found", c.held}};
  if (gpu) out.update({{"warp_accesses", c.warp_accesses}, {"sectors", c.sectors}, {"wavefronts", c.wavefronts}});
  return out;
}

std::vector<std::string> counts_cells(const simulate::PlayCounts& c, bool gpu) {
  std::vector<std::string> cells{std::to_string(c.loads), std::to_string(c.stores), std::to_string(c.lookups)};
  for (const int64_t h : c.held) cells.push_back(std::to_string(h));
  cells.push_back(c.lookups > 0 ? fmt::format("{:.2f} %", 100 * c.hit_share(0)) : "-");
  if (gpu) cells.insert(cells.end(), {std::to_string(c.warp_accesses), std::to_string(c.sectors), std::to_string(c.wavefronts)});
  return cells;
}

std::string played_sizes(const api::PlayedLoops& played, const CacheOptions& o) {
  if (played.longest > 0) return fmt::format("Sizes: smaller than the task's, no axis longer than {}.", played.longest);
  if (played.play->trace().is_whole) return "Sizes: the task's own.";
  return fmt::format("Sizes: the task's own, up to {} elements read and written, then it ends{}.", o.limit,
                     played.not_smaller ? "; the schedule fits no smaller ones: " + printable(played.not_smaller->text()) : "");
}

int play_cache(const CacheOptions& o) {
  if (!o.steps.empty() + !o.db.empty() + (o.point >= 0) > 1) return fail_usage("Expected one of --steps, --db and --point, found several");
  int exit = kDone;
  const auto loaded = load_network(o.network, exit);
  if (!loaded) return exit;
  const auto tasks = api::network_tasks(loaded->network, loaded->target);
  const auto chosen = std::find_if(tasks.begin(), tasks.end(), [&](const auto& t) { return t.task.name == o.task || (!o.task.empty() && t.task.key.starts_with(o.task)); });
  if (tasks.empty() || (!o.task.empty() && chosen == tasks.end()))
    return fail_input(Error(ErrorCode::not_found, fmt::format("Expected a name or the beginning of a key that `tw tasks` lists, found '{}'", printable(o.task))));
  const api::NetworkTask& asked = o.task.empty() ? tasks.front() : *chosen;
  const records::Task& task = asked.task;
  if (!task.dag) return fail_input(Error(ErrorCode::unsupported, "Expected a task with its computation, found one that was recorded without"));
  const auto steps = steps_of(o, asked);
  if (!steps) return fail_input(steps.error());
  const auto played = api::play_loops(task, *steps, {.limit = o.limit, .smaller_caches = o.smaller_caches, .own_sizes = o.own_sizes});
  if (!played) return fail(played.error());
  const simulate::LoopPlay& play = *played->play;
  const tir::AccessTrace& trace = play.trace();
  const bool gpu = task.target.gpu.has_value();
  if (o.json) {
    Json levels = Json::array(), arrays = Json::array(), loops = Json::array();
    for (const auto& l : play.levels()) levels.push_back({{"name", l.name}, {"bytes", l.bytes}, {"ways", l.ways}, {"line_bytes", l.line}});
    for (size_t a = 0; a < trace.arrays.size(); ++a) {
      Json row = {{"name", trace.arrays[a]->name}, {"shape", trace.arrays[a]->shape}, {"home", home_name(play.arrays()[a].home)}};
      row.update(counts_json(play.sum(play.totals(), -1, static_cast<int>(a)), gpu));
      arrays.push_back(std::move(row));
    }
    for (size_t l = 0; l < trace.loops.size(); ++l) {
      Json row = {{"name", trace.loops[l].loop->var->name}, {"kind", tir::for_kind_name(trace.loops[l].loop->for_kind)}, {"level", trace.loops[l].level}};
      row.update(counts_json(play.sum(play.totals(), static_cast<int>(l), -1), gpu));
      loops.push_back(std::move(row));
    }
    print_json({{"task", task.name},
                {"steps", play.size()},
                {"longest", played->longest > 0 ? Json(played->longest) : Json()},
                {"whole", trace.is_whole},
                {"caches", std::move(levels)},
                {"arrays", std::move(arrays)},
                {"loops", std::move(loops)}});
    return kDone;
  }
  print("{}: {} steps. {}\n", task.name, play.size(), played_sizes(*played, o));
  for (const auto& l : play.levels()) print("{}: {} in {} sets of {} lines of {} bytes\n", l.name, si_text(static_cast<double>(l.bytes), "B"), l.sets(), l.ways, l.line);
  std::vector<std::string> columns{">loads", ">stores", ">lookups"};
  for (const auto& l : play.levels()) columns.push_back(">in " + l.name);
  columns.insert(columns.end(), {">in memory", ">" + play.levels().front().name + " hits"});
  if (gpu) columns.insert(columns.end(), {">by warps", ">sectors", ">wavefronts"});
  const auto table = [&](std::vector<std::string> head) {
    head.insert(head.end(), columns.begin(), columns.end());
    return Table(head);
  };
  Table arrays = table({"array", "shape", "is in"}), loops = table({"loop", "kind"});
  for (size_t a = 0; a < trace.arrays.size(); ++a) {
    std::vector<std::string> row{printable(trace.arrays[a]->name), shape_text(trace.arrays[a]->shape), home_name(play.arrays()[a].home)};
    const auto cells = counts_cells(play.sum(play.totals(), -1, static_cast<int>(a)), gpu);
    row.insert(row.end(), cells.begin(), cells.end());
    arrays.row(std::move(row));
  }
  for (size_t l = 0; l < trace.loops.size(); ++l) {
    const auto& loop = trace.loops[l];
    std::vector<std::string> row{std::string(2 * static_cast<size_t>(loop.level), ' ') + printable(loop.loop->var->name), tir::for_kind_name(loop.loop->for_kind)};
    const auto cells = counts_cells(play.sum(play.totals(), static_cast<int>(l), -1), gpu);
    row.insert(row.end(), cells.begin(), cells.end());
    loops.row(std::move(row));
  }
  put("\n" + arrays.text() + "\n" + loops.text());
  return kDone;
}

}  // namespace

void add_task(Subcommand app, Run& run) {
  Subcommand task = app.group("task", "Computations of one's own, written as texts with templates");
  auto l = std::make_shared<OperatorsOptions>();
  task.command(run, "list", "Names the bundled operators, with their parameters", l, list_operators).flag("--json", l->json, "One JSON document on standard output");
  auto s = std::make_shared<ShowOptions>();
  task.command(run, "show", "Prints the text of a bundled operator", s, show_operator).option("name", s->name, "Operator of `tw task list`").required();
  auto c = std::make_shared<CreateOptions>();
  Subcommand create = task.command(run, "create", "Checks a text, or writes that of a bundled operator, and says what task it makes", c, create_task);
  create.option("what", c->network.model, "File that ends in .te, or an operator of `tw task list`").required();
  create.option("--args", c->args, "Values of the parameters that are integers, in their order, as 512,512,512").separated_by(',');
  create.option("--dtype", c->dtype, "Value of the parameter that is a type, such as float16");
  create.option("-o,--output", c->output, "File to write; NAME.te for an operator if absent").output(kNewText);
  create.option("--target", c->network.target, "What the code is for, as `tw tasks`").show_default();
  create.option("--db", c->db, "Workspace to enter the task in").input();
  create.flag("--json", c->json, "One JSON document on standard output");
  auto k = std::make_shared<CacheOptions>();
  Subcommand cache =
      task.command(run, "cache", "Plays a task's loops on small sizes: what each array and loop reads and writes, and what caches find (in the workbench: Loops)", k, play_cache);
  add_network_options(cache, k->network);
  cache.option("--task", k->task, "Name, or the beginning of a key, that `tw tasks` lists; the heaviest if absent");
  cache.option("--db", k->db, "Workspace: the best schedule that it has of the task, in place of the default one").input();
  cache.option("--point", k->point, "Point of the task's space").range(int64_t{0}, INT64_MAX);
  cache.option("--steps", k->steps, "Schedule as JSON, as `tw tasks --sketches --json` writes it");
  cache.option("--first", k->first, "Only so many of the schedule's steps: before and after a primitive").range(int64_t{0}, INT64_MAX);
  cache.option("--limit", k->limit, "Elements to read and write at most; larger tasks are played on smaller sizes").range(int64_t{1}, int64_t{1} << 26).show_default();
  cache.option("--smaller-caches", k->smaller_caches, "Caches with so many times fewer sets than the target's").range(1, 1 << 16).show_default();
  cache.flag("--own-sizes", k->own_sizes, "The task's sizes, even if the limit ends them");
  cache.flag("--json", k->json, "One JSON document on standard output");
}

}  // namespace tw::cli
