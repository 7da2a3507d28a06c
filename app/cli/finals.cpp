// SPDX-License-Identifier: Apache-2.0
// `tw finals`: what won alone, tried inside the network.
#include <algorithm>
#include <filesystem>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/network_report.h"
#include "app/cli/workspace.h"
#include "engine/base/json.h"
#include "engine/measure/device.h"

namespace tw::cli {
namespace {

struct FinalsArguments {
  NetworkOptions network;
  std::string db, device;
  api::SelectionOptions selection;
  bool stored = false, json = false;
};

/// What earlier finals of the network found.
int show_stored(const LoadedNetwork& loaded, db::Database& db, bool json) {
  const auto models = db.models();
  if (!models) return fail_input(models.error());
  const auto model = std::find_if(models->begin(), models->end(), [&](const db::ModelRow& m) { return m.content_key == loaded.network.content_key; });
  std::vector<db::NetworkFinalRow> rows;
  if (model != models->end()) {
    auto found = db.network_finals(model->id);
    if (!found) return fail_input(found.error());
    rows = std::move(*found);
    std::erase_if(rows, [&](const db::NetworkFinalRow& r) { return r.target != loaded.target.str(); });
  }
  if (json) {
    Json list = Json::array();
    for (const db::NetworkFinalRow& r : rows) list.push_back(stored_final_json(r));
    print_json({{"finals", list}});
  } else {
    put(stored_finals_table(rows));
  }
  return kDone;
}

int finals(const FinalsArguments& o) {
  NetworkReportRequest request;
  request.selection = o.selection;
  int exit = kDone;
  const auto loaded = load_network(o.network, exit);
  if (!loaded) return exit;
  const std::string path = o.db.empty() ? default_database_path() : o.db;
  if (std::error_code ec; !std::filesystem::exists(path, ec)) return fail_input(Error(ErrorCode::not_found, "Expected a database, found none", path));
  auto db = open_workspace(path);
  if (!db && db.error().code == ErrorCode::infrastructure) {
    note("Another program writes to the database: what holds is shown, not stored");
    db = open_workspace(path, db::Mode::read_only);
  }
  if (!db) return fail_input(db.error());
  if (o.stored) return show_stored(*loaded, **db, o.json);
  request.network = &*loaded;
  request.path = o.network.model;
  request.device = o.device.empty() ? measure::device_for(loaded->target) : o.device;
  const auto done = report_network(request, **db);
  if (!done) return fail(done.error());
  if (o.json) {
    print_json(finals_json(*done));
  } else {
    print("{}", finals_table(*done));
  }
  return kDone;
}

}  // namespace

void add_finals(Subcommand app, Run& run) {
  auto o = std::make_shared<FinalsArguments>();
  Subcommand sub = app.command(run, "finals", "Tries the best records of a database inside the network; tw compile then takes only what holds there", o, finals);
  add_network_options(sub, o->network);
  sub.option("--db", o->db, "Database with the records; " + default_database_path() + " if absent");
  sub.option("--device", o->device, "What measured the records and runs the network: local, cuda:0 and so on, or farm:KIND for one device of a farm; what there is for the target if absent");
  sub.duration("--time", o->selection.time_s, "Time after which what is still in doubt is not taken, such as 90s");
  sub.option("--seed", o->selection.seed, "Seed of the inputs and of the order of runs").show_default();
  sub.flag("--stored", o->stored, "Show what was found before, without running anything");
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
