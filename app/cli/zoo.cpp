// SPDX-License-Identifier: Apache-2.0
// `tw zoo`: the bundled networks, written as real ONNX files.
#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/table.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

struct ListOptions {
  bool json = false;
};

int list(const ListOptions& o) {
  if (o.json) {
    Json models = Json::array();
    for (const auto& m : frontends::zoo()) models.push_back({{"name", m.name}, {"summary", m.summary}});
    print_json({{"models", models}});
    return kDone;
  }
  Table table({"name", "summary"});
  for (const auto& m : frontends::zoo()) table.row({m.name, m.summary});
  put(table.text());
  return kDone;
}

struct WriteOptions {
  std::string name, path;
  frontends::ZooOptions zoo;
  bool json = false;
};

int write_model(const WriteOptions& o) {
  bool known = false;
  std::vector<std::string> names;
  for (const auto& m : frontends::zoo()) {
    names.push_back(m.name);
    known = known || o.name == m.name;
  }
  if (!known) return fail_usage(fmt::format("Expected one of {}, found '{}'", fmt::join(names, ", "), printable(o.name)));
  const std::string path = o.path.empty() ? o.name + ".onnx" : o.path;
  if (auto r = frontends::write_zoo_model(o.name, o.zoo, path); !r) return fail(r.error());
  if (o.json) {
    print_json({{"name", o.name}, {"path", path}, {"tiny", o.zoo.tiny}, {"batch", o.zoo.batch}, {"seed", o.zoo.seed}});
  } else {
    print("{}\n", path);
  }
  return kDone;
}

}  // namespace

void add_zoo(Subcommand app, Run& run) {
  Subcommand zoo = app.group("zoo", "Bundled networks, written as ONNX files with seeded random weights");
  auto l = std::make_shared<ListOptions>();
  zoo.command(run, "list", "Names what there is", l, list).flag("--json", l->json, "One JSON document on standard output");
  auto w = std::make_shared<WriteOptions>();
  Subcommand write = zoo.command(run, "write", "Writes one network; the same seed gives the same bytes", w, write_model);
  write.option("name", w->name, "Name from `tw zoo list`").required();
  write.option("-o,--output", w->path, "File to write; NAME.onnx if absent").output(frontends::kZooFile);
  write.flag("--tiny", w->zoo.tiny, "The same structure with small channels and images");
  write.option("--batch", w->zoo.batch, "Batch size").range(int64_t{1}, int64_t{4096});
  write.option("--seed", w->zoo.seed, "Seed of the weights");
  write.flag("--json", w->json, "One JSON document on standard output");
}

}  // namespace tw::cli
