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
}

}  // namespace tw::cli
