// SPDX-License-Identifier: Apache-2.0
// `tw compile`: a network as one file of machine code, every kernel from its best record.
#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/emit.h"
#include "app/cli/network.h"
#include "app/cli/pass_dump.h"
#include "app/cli/progress.h"
#include "app/cli/table.h"
#include "app/cli/workspace.h"
#include "app/logs/import_log.h"
#include "db/database.h"
#include "engine/api/ansor_trials.h"
#include "engine/api/log_trials.h"
#include "engine/api/pass_list.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

struct CompileArguments {
  NetworkOptions network;
  std::string db, output, dump_passes;
  std::vector<std::string> logs, disabled, enabled, emit, on_host;
  bool nearest = false, plain = false, json = false;
};

Json compile_json(const runtime::Executable& e, const std::string& path, const std::vector<std::string>& emitted) {
  Json kernels = Json::array();
  for (const auto& c : e.calls) {
    kernels.push_back({{"name", c.name},
                       {"symbol", c.symbol},
                       {"task", c.task_key},
                       {"origin", c.origin},
                       {"space", c.space},
                       {"record", c.record.empty() ? Json() : Json(c.record)},
                       {"claimed", c.claimed},
                       {"flops", c.flops},
                       {"on_host", c.on_host}});
  }
  int64_t constants = 0;
  for (const auto& s : e.slots) constants += s.kind == runtime::Slot::Kind::constant ? s.spec.physical_bytes() : 0;
  size_t gpu_bytes = 0;
  for (const runtime::GpuFunction& f : e.artifact.gpu)
    for (const auto& [capability, image] : f.images) gpu_bytes += image.size();
  return {{"output", path},
          {"name", e.name},
          {"target", e.target},
          {"kernels", kernels},
          {"object_bytes", e.artifact.object.size()},
          {"gpu_bytes", gpu_bytes},
          {"constant_bytes", constants},
          {"arena_bytes", e.arena_bytes},
          {"live_bytes", e.live_bytes},
          {"unplanned_bytes", e.unplanned_bytes},
          {"emitted", emitted}};
}

/// Kernels whose times were measured elsewhere, by name and record.
void note_claims(const runtime::Executable& e) {
  std::set<std::string> claims;
  for (const auto& c : e.calls)
    if (c.claimed) claims.insert(fmt::format("{} ({})", printable(c.name), printable(c.record)));
  if (claims.empty()) return;
  note(fmt::format("Note: {} kernels rest on times that were measured elsewhere and not checked here; tw tune measures them: {}", claims.size(),
                   fmt::join(claims, ", ")));
}

void print_summary(const runtime::Executable& e, const Json& summary) {
  std::map<std::array<std::string, 4>, int> origins;
  for (const auto& c : e.calls) ++origins[{c.name, c.space, c.origin, c.record.empty() ? "-" : c.claimed ? c.record + ", elsewhere" : c.record}];
  Table table({"kernel", ">calls", "space", "schedule", "record"});
  for (const auto& [key, count] : origins) table.row({key[0], std::to_string(count), key[1], key[2], key[3]});
  print("{}\n{}: {} kernel calls, code {}, constants {}, activations {} (at least {}, {} without reuse)\n", table.text(), summary["output"].get<std::string>(),
        e.calls.size(), si_text(summary["object_bytes"].get<double>() + summary["gpu_bytes"].get<double>(), "B"),
        si_text(summary["constant_bytes"].get<double>(), "B"), si_text(static_cast<double>(e.arena_bytes), "B"),
        si_text(static_cast<double>(e.live_bytes), "B"), si_text(static_cast<double>(e.unplanned_bytes), "B"));
}

int check_emissions(const CompileArguments& o, std::optional<bool> for_gpu) {
  const std::vector<std::string> known = emissions(for_gpu);
  for (const std::string& what : o.emit)
    if (std::find(known.begin(), known.end(), what) == known.end())
      return fail_usage(fmt::format("Expected --emit with {}{}, found '{}'", fmt::join(known, ", "),
                                    !for_gpu   ? ""
                                    : *for_gpu ? " for a GPU"
                                               : " for a processor",
                                    printable(what)));
  return kDone;
}

int check_names(const CompileArguments& o) {
  if (const auto names = api::left_out(o.disabled); !names) return fail_usage(names.error().message);
  std::vector<std::string> optional;
  for (const api::PassFacts& p : api::all_passes())
    if (p.optional) optional.push_back(p.name);
  for (const std::string& name : o.enabled)
    if (std::find(optional.begin(), optional.end(), name) == optional.end())
      return fail_usage(fmt::format("Expected a pass among {}, found '{}'", fmt::join(optional, ", "), printable(name)));
  return check_emissions(o, std::nullopt);
}

/// The logs' records of the network's tasks, those of AutoTVM's before those of Ansor's; lines of no use are notes.
struct LogSources {
  std::unique_ptr<api::LogRecords> autotvm;
  std::unique_ptr<api::AnsorRecords> ansor;
};

Expected<LogSources> read_logs(const CompileArguments& o, const LoadedNetwork& loaded) {
  std::vector<api::LogRecords::NamedLog> logs;
  std::vector<api::AnsorRecords::NamedLog> ansor;
  for (const std::string& path : o.logs) {
    const auto note_problems = [&](const std::vector<records::LineProblem>& problems) {
      note_skipped(problems.size(), [&](size_t i) { return fmt::format("{}, line {}: {}", path, problems[i].line, problems[i].reason); });
    };
    TW_TRY(const std::string text, read_file(path));
    if (logs::sniff_log(text) == logs::LogFormat::ansor) {
      ansor.push_back({path, records::read_ansor(text)});
      note_problems(ansor.back().log.problems);
    } else {
      TW_TRY(records::AutotvmLog log, records::read_autotvm_file(path));
      note_problems(log.problems);
      logs.push_back({path, std::move(log)});
    }
  }
  std::vector<records::Task> tasks;
  for (api::NetworkTask& t : api::network_tasks(loaded.network, loaded.target)) tasks.push_back(std::move(t.task));
  LogSources out{std::make_unique<api::LogRecords>(tasks, logs, o.nearest), std::make_unique<api::AnsorRecords>(tasks, ansor)};
  note_skipped(out.autotvm->problems().size(), [&](size_t i) { return out.autotvm->problems()[i]; });
  note_skipped(out.ansor->problems().size(), [&](size_t i) { return out.ansor->problems()[i]; });
  return out;
}

int compile_model(const CompileArguments& o) {
  if (const int bad = check_names(o); bad != kDone) return bad;
  graph::PassHooks hooks;
  const api::LeftOut without = api::left_out(o.disabled).value();  // names were checked
  hooks.disabled = without.graph;
  hooks.enabled = o.enabled;
  PassDump dump(o.dump_passes);
  if (!o.dump_passes.empty()) {
    hooks.after = std::ref(dump);
  }
  int exit = kDone;
  auto loaded = load_network(o.network, exit, hooks);
  if (!loaded) return exit;
  if (const int bad = check_emissions(o, loaded->target.gpu.has_value()); bad != kDone) return bad;
  std::shared_ptr<db::Database> db;
  if (!o.db.empty()) {
    auto opened = open_workspace(o.db, db::Mode::read_only);
    if (!opened) return fail_input(opened.error());
    db = std::move(*opened);
  }
  LogSources logs;
  if (!o.logs.empty()) {
    auto opened = read_logs(o, *loaded);
    if (!opened) return fail_input(opened.error());
    logs = std::move(*opened);
  }
  std::vector<records::RecordSource*> sources;
  if (db) sources.push_back(db.get());
  if (logs.autotvm) sources.push_back(logs.autotvm.get());
  if (logs.ansor) sources.push_back(logs.ansor.get());
  const auto records = api::first_of(sources);
  const std::string name = std::filesystem::path(o.output).stem().string();
  std::vector<EmittedKernel> kernels;
  Progress progress("Compiling", 0);
  api::CompileOptions options;
  options.symbols = name;
  options.on_kernel = [&](const std::string& symbol, const schedule::Schedule& schedule) { kernels.push_back({symbol, schedule}); };
  options.stop = stop_token();
  options.plain = o.plain;
  options.without = without.kernel;
  options.on_host = o.on_host;
  std::vector<std::string> notes;
  options.notes = &notes;
  options.progress = [&](const std::string& what, int done, int total) {
    progress.set_total(total);
    progress.update(done, what);
  };
  const bool keep = !o.emit.empty() || !o.dump_passes.empty();  // else its weights need not stay beside the packed ones
  auto executable =
      api::compile(keep ? api::Network(loaded->network) : std::move(loaded->network), loaded->target, sources.empty() ? nullptr : records.get(), options);
  progress.finish();
  for (const std::string& text : notes) note("Note: " + text);
  if (!executable) return fail(executable.error());
  note_claims(*executable);
  if (auto r = runtime::save(*executable, o.output); !r) return fail(r.error());
  if (!o.dump_passes.empty()) {
    for (const EmittedKernel& k : kernels) dump.add_kernel(k.symbol, k.schedule, loaded->target, without.kernel);
    if (auto r = dump.finish(); !r) return fail(r.error());
  }
  const auto emitted = emit(o.emit, o.output + ".d", name, loaded->network, *executable, kernels, loaded->target);
  if (!emitted) return fail(emitted.error());
  const Json summary = compile_json(*executable, o.output, *emitted);
  if (o.json) {
    print_json(summary);
  } else {
    print_summary(*executable, summary);
  }
  return kDone;
}

}  // namespace

void add_compile(Subcommand app, Run& run) {
  auto o = std::make_shared<CompileArguments>();
  Subcommand sub = app.command(run, "compile", "Compiles a network to one file, every kernel from its best record", o, compile_model);
  add_network_options(sub, o->network);
  sub.option("--db", o->db, "Database with the records; tasks without one get the default schedule").input();
  sub.option("--log", o->logs, "JSON lines of AutoTVM or Ansor with records, applied where the database has none; may be repeated").input();
  sub.flag("--nearest", o->nearest, "Tasks without a record get the point nearest to the logs' records of other shapes, unmeasured");
  sub.flag("--plain", o->plain, "Tasks without a record get plain loops instead of the point that a template's rule names: what tuning starts from");
  sub.option("-o,--output", o->output, "File to write (.twx)").output(runtime::kExecutableFile).required();
  sub.option("--dump-passes", o->dump_passes, "Folder for the graph after every graph pass, every kernel after every pass over its loops, and an index");
  sub.option("--disable-pass", o->disabled, "Leave out a pass of the graph or of the kernels, of those that `tw passes` says may be; may be repeated");
  sub.option("--enable-pass", o->enabled, "Run a graph pass that is off by default; may be repeated");
  sub.option("--on-host", o->on_host, "Operator, such as softmax, that the processor computes in a network for a GPU; may be repeated");
  sub.option("--emit", o->emit, fmt::format("Other forms, written into OUTPUT.d: {}; comma-separated", fmt::join(emissions(), ", "))).separated_by(',');
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
