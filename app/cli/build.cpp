// SPDX-License-Identifier: Apache-2.0
// `tw build`: a task as an object file and a C header, from its best record.
#include <filesystem>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/network.h"
#include "app/cli/workspace.h"
#include "engine/api/c_export.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

const FileKind kObject{"an object file", [](std::string_view beginning) { return beginning.starts_with("\x7f" "ELF"); }};
const FileKind kSource{"C code of Tilewright", [](std::string_view beginning) { return beginning.find("Tilewright") != std::string_view::npos; }};

struct BuildArguments {
  NetworkOptions network;
  std::string db, output;
  bool json = false;
};

int build_task(const BuildArguments& o) {
  const std::filesystem::path output(o.output);
  int exit = kDone;
  auto loaded = load_network(o.network, exit);
  if (!loaded) return exit;
  if (loaded->target.gpu) return fail_usage("Expected a processor as the target of `tw build`; `tw compile --emit cubin,cuda` writes kernels for a GPU");
  std::shared_ptr<db::Database> db;
  if (!o.db.empty()) {
    auto opened = open_workspace(o.db, db::Mode::read_only);
    if (!opened) return fail_input(opened.error());
    db = std::move(*opened);
  }
  const std::string name = api::c_identifier(output.stem().string());
  api::CompileOptions options;
  options.symbols = name;
  options.stop = stop_token();
  auto executable = api::compile(std::move(loaded->network), loaded->target, db.get(), options);
  if (!executable) return fail(executable.error());
  const auto c = api::export_c(*executable, name);
  if (!c) return fail(c.error());
  const std::filesystem::path folder = output.parent_path();
  std::vector<std::string> written{o.output};
  if (auto r = write_file(o.output, kObject, std::string_view(reinterpret_cast<const char*>(c->kernels.data()), c->kernels.size())); !r) return fail(r.error());
  std::vector<api::OutputFile> rest = api::source_files(*c);
  rest.push_back({name + "_data.o", std::string_view(reinterpret_cast<const char*>(c->data.data()), c->data.size())});
  for (const api::OutputFile& f : rest) {
    written.push_back((folder / f.name).string());
    if (auto r = write_file(written.back(), f.name.ends_with(".o") ? kObject : kSource, f.bytes); !r) return fail(r.error());
  }
  Json kernels = Json::array();
  for (const runtime::Call& call : executable->calls)
    kernels.push_back({{"name", call.name}, {"space", call.space}, {"origin", call.origin}, {"record", call.record.empty() ? Json() : Json(call.record)}});
  if (o.json) {
    print_json({{"files", written}, {"name", name}, {"target", executable->target}, {"kernels", kernels}});
    return kDone;
  }
  for (const runtime::Call& call : executable->calls)
    print("{}: {} ({})\n", printable(call.name), printable(call.origin), call.record.empty() ? "no record" : printable(call.record));
  for (const std::string& path : written) print("{}\n", printable(path));
  print("cc -O2 your_program.c {} -lpthread -lm\n", printable(fmt::format("{}", fmt::join(std::vector<std::string>{written[0], written[3], written[2]}, " "))));
  return kDone;
}

}  // namespace

void add_build(Subcommand app, Run& run) {
  auto o = std::make_shared<BuildArguments>();
  Subcommand sub = app.command(run, "build", "Builds a task, or a network, as object files and a C header, from its best records", o, build_task);
  add_network_options(sub, o->network);
  sub.option("--db", o->db, "Database with the records; a task without one gets the default schedule").input();
  sub.option("-o,--output", o->output, "Object file to write; header, tables and runtime come beside it").output(kObject).required();
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
