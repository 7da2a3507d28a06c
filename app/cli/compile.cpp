// SPDX-License-Identifier: Apache-2.0
// `tw compile`: a network as one file of machine code, every kernel from its best record.
#include <filesystem>
#include <set>

#include "app/cli/common.h"
#include "app/cli/network.h"
#include "app/cli/progress.h"
#include "app/cli/table.h"
#include "db/database.h"
#include "engine/api/explain.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

struct Options {
  NetworkOptions network;
  std::string db, output, dump_passes;
  std::vector<std::string> disabled, emit;
  bool json = false;
};

const std::set<std::string> kListings = {"steps", "loops", "tir", "llvm", "asm"};

/// Writes the graph before the first pass and after every pass that changed it.
class PassDump {
 public:
  explicit PassDump(std::string folder) : folder_(std::move(folder)) {}

  void operator()(const graph::Pass& pass, const graph::Graph& before, const graph::Graph& after, double, bool changed) {
    if (number_ == 0) write("imported", before);
    ++number_;
    if (changed) write(pass.name, after);
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  void write(const std::string& name, const graph::Graph& g) {
    const std::string path = fmt::format("{}/{:02}_{}.graph", folder_, number_, name);
    if (auto r = write_file(path, graph::print(g)); !r && !error_) error_ = r.error();
  }

  std::string folder_;
  int number_ = 0;
  std::optional<Error> error_;
};

/// Listings of every kernel's schedule beside the output: OUTPUT.d/00_task.asm and so on.
Expected<void> write_listings(const LoadedNetwork& loaded, records::RecordSource* source, const Options& o) {
  const std::string folder = o.output + ".d";
  std::error_code ec;
  std::filesystem::create_directories(folder, ec);
  if (ec) return Error(ErrorCode::io_error, fmt::format("Cannot create the folder '{}': {}", folder, ec.message()));
  int number = 0;
  for (const auto& t : api::network_tasks(loaded.network, loaded.target)) {
    records::Candidate candidate = api::default_candidate(t.task);
    if (source != nullptr) {
      TW_TRY(auto best, source->best(t.task.key));
      if (best) candidate = best->candidate;
    }
    const api::Explanation e = api::explain(t.task, candidate.steps);
    if (e.error) return *e.error;
    const std::string base = fmt::format("{}/{:02}_{}.", folder, number++, t.task.name);
    for (const std::string& what : o.emit) {
      const std::string& text = what == "steps" ? e.steps : what == "loops" ? e.loops : what == "tir" ? e.tir : what == "llvm" ? e.llvm_ir : e.assembly;
      TW_CHECK(write_file(base + what, text));
    }
  }
  return {};
}

Json compile_json(const runtime::Executable& e, const std::string& path) {
  Json kernels = Json::array();
  for (const auto& c : e.calls) kernels.push_back({{"name", c.name}, {"symbol", c.symbol}, {"task", c.task_key}, {"origin", c.origin}, {"flops", c.flops}});
  int64_t constants = 0;
  for (const auto& s : e.slots) constants += s.kind == runtime::Slot::Kind::constant ? s.spec.physical_bytes() : 0;
  return {{"output", path},
          {"name", e.name},
          {"target", e.target},
          {"kernels", kernels},
          {"object_bytes", e.artifact.object.size()},
          {"constant_bytes", constants},
          {"arena_bytes", e.arena_bytes},
          {"unplanned_bytes", e.unplanned_bytes}};
}

void print_summary(const runtime::Executable& e, const Json& summary) {
  std::map<std::pair<std::string, std::string>, int> origins;
  for (const auto& c : e.calls) ++origins[{c.name, c.origin}];
  Table table({"kernel", ">calls", "schedule from"});
  for (const auto& [key, count] : origins) table.row({key.first, std::to_string(count), key.second});
  fmt::print("{}\n{}: {} kernel calls, code {}, constants {}, activations {} ({} without reuse)\n", table.text(), summary["output"].get<std::string>(),
             e.calls.size(), si_text(summary["object_bytes"].get<double>(), "B"), si_text(summary["constant_bytes"].get<double>(), "B"),
             si_text(static_cast<double>(e.arena_bytes), "B"), si_text(static_cast<double>(e.unplanned_bytes), "B"));
}

int check_names(const Options& o) {
  for (const std::string& name : o.disabled) {
    bool known = false;
    std::vector<std::string> names;
    for (const auto& p : graph::passes()) {
      names.push_back(p.name);
      known = known || name == p.name;
    }
    if (!known) return fail_usage(fmt::format("Expected a pass among {}, found '{}'", fmt::join(names, ", "), printable(name)));
  }
  for (const std::string& what : o.emit)
    if (!kListings.contains(what)) return fail_usage(fmt::format("Expected --emit with {}, found '{}'", fmt::join(kListings, ", "), printable(what)));
  return kDone;
}

int compile_model(const Options& o) {
  if (const int bad = check_names(o); bad != kDone) return bad;
  graph::PassHooks hooks;
  hooks.disabled = o.disabled;
  PassDump dump(o.dump_passes);
  if (!o.dump_passes.empty()) {
    if (auto r = make_parent_folder(o.dump_passes + "/x"); !r) return fail(r.error());
    hooks.after = std::ref(dump);
  }
  int exit = kDone;
  const auto loaded = load_network(o.network, exit, hooks);
  if (!loaded) return exit;
  if (dump.error()) return fail(*dump.error());
  std::shared_ptr<db::Database> db;
  if (!o.db.empty()) {
    auto opened = db::Database::open(o.db, db::Mode::read_only);
    if (!opened) return fail_input(opened.error());
    db = std::move(*opened);
  }
  Progress progress("Compiling", 0);
  api::CompileOptions options;
  options.stop = stop_token();
  options.progress = [&](const std::string& what, int done, int total) {
    progress.set_total(total);
    progress.update(done, what);
  };
  auto executable = api::compile(loaded->network, loaded->target, db.get(), options);
  progress.finish();
  if (!executable) return fail(executable.error());
  if (auto r = runtime::save(*executable, o.output); !r) return fail(r.error());
  if (!o.emit.empty()) {
    if (auto r = write_listings(*loaded, db.get(), o); !r) return fail(r.error());
  }
  const Json summary = compile_json(*executable, o.output);
  if (o.json) {
    print_json(summary);
  } else {
    print_summary(*executable, summary);
  }
  return kDone;
}

}  // namespace

void add_compile(CLI::App& app, Run& run) {
  auto o = std::make_shared<Options>();
  CLI::App* sub = declare(app, run, "compile", "Compiles a network to one file, every kernel from its best record", o, compile_model);
  add_network_options(sub, o->network);
  sub->add_option("--db", o->db, "Database with the records; tasks without one get the default schedule");
  sub->add_option("-o,--output", o->output, "File to write (.twx)")->required();
  sub->add_option("--dump-passes", o->dump_passes, "Folder for the graph after every pass that changed it");
  sub->add_option("--disable-pass", o->disabled, "Skip a graph pass; may be repeated");
  sub->add_option("--emit", o->emit, "Listings of every task into OUTPUT.d: steps, loops, tir, llvm, asm; comma-separated")->delimiter(',');
  sub->add_flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
