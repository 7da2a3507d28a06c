// SPDX-License-Identifier: Apache-2.0
// `tw race`: tuners against each other, as a file says. A race that was stopped goes on where it was.
#include <algorithm>
#include <deque>
#include <filesystem>
#include <optional>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/comparison_report.h"
#include "app/cli/race_session.h"
#include "app/cli/tuning.h"
#include "app/cli/workspace.h"
#include "app/logs/plan_fields.h"
#include "app/logs/recorded_space.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

using logs::only_keys, logs::text_field, logs::wrong_plan;

struct RaceArguments {
  std::string file, db;
  measure::WorkerOptions workers;
  ComparisonFiles files;
};

/// What a race file says. Paths are as seen from its folder.
struct RacePlan {
  struct Network {
    NetworkOptions options;
    std::vector<std::string> filters;
  };
  struct Tuner {
    std::string name;
    Json params = Json::object();
  };
  std::string name;
  std::deque<Network> networks;  ///< options stay where they are declared
  std::vector<Tuner> tuners;
  std::vector<uint64_t> seeds;
  tune::SessionOptions options;  ///< of every session, but for tuner and seed
  std::string device = measure::kLocalDevice;
};

Expected<std::vector<std::string>> texts_of(const Json& object, const char* key, const std::string& file) {
  std::vector<std::string> all;
  if (!object.contains(key)) return all;
  if (!object[key].is_array()) return wrong_plan(fmt::format("Expected a list of texts for '{}', found {}", key, object[key].type_name()), file);
  for (const Json& text : object[key]) {
    if (!text.is_string()) return wrong_plan(fmt::format("Expected a list of texts for '{}', found {} in it", key, text.type_name()), file);
    all.push_back(text.get<std::string>());
  }
  return all;
}

std::string beside(const std::string& file, const std::string& path) {
  if (path.starts_with(logs::kSpaceByName)) return path;
  return std::filesystem::path(path).is_absolute() ? path : (std::filesystem::path(file).parent_path() / path).string();
}

Expected<void> read_network(const Json& json, const std::string& target, const std::string& file, RacePlan::Network& n) {
  if (json.is_string()) {
    n.options.model = json.get<std::string>();
  } else {
    TW_CHECK(only_keys(json, "a network", {"model", "tasks", "dims"}, file));
    TW_TRY(const auto model, text_field(json, "model", file));
    if (!model) return wrong_plan("Expected a network with a 'model', found none", file);
    n.options.model = *model;
    TW_TRY(n.filters, texts_of(json, "tasks", file));
    TW_TRY(n.options.dims, texts_of(json, "dims", file));
  }
  n.options.model = beside(file, n.options.model);
  n.options.target = target;
  return {};
}

Expected<std::vector<uint64_t>> seeds_of(const Json& json, const std::string& file) {
  constexpr int64_t kMost = 1000;
  std::vector<uint64_t> seeds;
  if (json.is_number_integer() && json.get<int64_t>() >= 1 && json.get<int64_t>() <= kMost) {
    for (int64_t seed = 1; seed <= json.get<int64_t>(); ++seed) seeds.push_back(static_cast<uint64_t>(seed));
    return seeds;
  }
  if (json.is_array() && !json.empty() && std::all_of(json.begin(), json.end(), [](const Json& s) { return s.is_number_unsigned(); })) {
    for (const Json& seed : json) seeds.push_back(seed.get<uint64_t>());
    return seeds;
  }
  return wrong_plan(fmt::format("Expected 'seeds' as a number from 1 to {} or a list of seeds, found {}", kMost, printable(dump_json(json))), file);
}

Expected<RacePlan> read_plan(const std::string& file) {
  TW_TRY(const std::string text, read_file(file));
  TW_TRY(const Json json, parse_json(text, file));
  TW_CHECK(only_keys(json, "a race", {"name", "networks", "target", "device", "tuners", "seeds", "options"}, file));
  RacePlan plan;
  TW_TRY(const auto name, text_field(json, "name", file));
  plan.name = name ? *name : std::filesystem::path(file).stem().string();
  TW_TRY(const auto target, text_field(json, "target", file));
  TW_TRY(const auto device, text_field(json, "device", file));
  if (device) plan.device = device->starts_with(records::kRecordedDevice) ? std::string(records::kRecordedDevice) + beside(file, device->substr(records::kRecordedDevice.size())) : *device;
  for (const char* key : {"networks", "tuners"})
    if (!json.contains(key) || !json[key].is_array() || json[key].empty()) return wrong_plan(fmt::format("Expected '{}' as a list of at least one", key), file);
  for (const Json& network : json["networks"]) TW_CHECK(read_network(network, target.value_or("llvm"), file, plan.networks.emplace_back()));
  for (const Json& tuner : json["tuners"]) {
    RacePlan::Tuner& t = plan.tuners.emplace_back();
    if (tuner.is_string()) {
      t.name = tuner.get<std::string>();
      continue;
    }
    TW_CHECK(only_keys(tuner, "a tuner", {"tuner", "params"}, file));
    TW_TRY(const auto named, text_field(tuner, "tuner", file));
    if (!named) return wrong_plan("Expected a tuner with its name as 'tuner', found none", file);
    t.name = *named;
    if (tuner.contains("params")) t.params = tuner["params"];
  }
  TW_TRY(plan.seeds, seeds_of(json.value("seeds", Json(db::kSessionsForVerdict)), file));
  const Json options = json.value("options", Json::object());
  if (!options.is_object()) return wrong_plan(fmt::format("Expected 'options' as an object, found {}", options.type_name()), file);
  const Json known = tune::to_json(tune::SessionOptions());
  for (const auto& item : options.items())
    if (item.key() == "tuner" || item.key() == "tuner_params" || item.key() == "seed" || !known.contains(item.key()))
      return wrong_plan(fmt::format("Expected options of sessions other than tuner and seed, found '{}'", printable(item.key())), file);
  auto session = tune::session_options(options);
  if (!session) return wrong_plan(session.error().message, file);
  plan.options = std::move(*session);
  if (plan.options.trials == 0 && plan.options.trials_per_task == 0 && plan.options.time_s == 0) return wrong_plan("Expected trials, trials_per_task or time_s among 'options', found none", file);
  return plan;
}

int race(const RaceArguments& o) {
  auto plan = read_plan(o.file);
  if (!plan) return fail_input(plan.error());
  // Names and parameters of all tuners are asked before the first of them runs for an hour.
  std::vector<tune::SessionOptions> tuners;
  for (const RacePlan::Tuner& t : plan->tuners) {
    Json json = tune::to_json(plan->options);
    json["tuner"] = t.name, json["tuner_params"] = t.params;
    auto options = tune::session_options(json);
    if (!options) return fail_input(wrong_plan(options.error().message, o.file));
    tuners.push_back(std::move(*options));
  }
  int exit = kDone;
  std::vector<LoadedNetwork> networks;
  for (const RacePlan::Network& n : plan->networks) {
    auto loaded = load_network(n.options, exit);
    if (!loaded) return exit;
    networks.push_back(std::move(*loaded));
  }
  const std::string path = o.db.empty() ? (std::filesystem::path(o.file).replace_extension(".twdb")).string() : o.db;
  auto db = open_workspace(path);
  if (!db) return fail(db.error());
  outlive_terminal();
  const size_t total = plan->seeds.size() * networks.size() * tuners.size();
  size_t at = 0;
  // All tuners run with a seed before the next seed comes, so that a slow change of the machine meets all of them alike.
  for (const uint64_t seed : plan->seeds) {
    for (size_t n = 0; n < networks.size(); ++n) {
      for (tune::SessionOptions options : tuners) {
        options.seed = seed;
        ++at;
        const RacePlan::Network& network = plan->networks[n];
        TuneRequest request{&networks[n], networks[n].path, network.filters, options, false, {}, {}, o.workers, networks[n].device(plan->device)};
        request.race = plan->name;
        const auto ran = run_race_session(std::move(request), *db, fmt::format("Session {} of {}: {} on {}, seed {}", at, total, options.tuner, printable(network.options.model), seed));
        if (!ran) return fail(ran.error());
        if (ran->cancelled) {
          note(fmt::format("Cancelled; every trial is in '{}', and the same command goes on", printable(path)));
          return kCancelled;
        }
      }
    }
  }
  auto rows = (*db)->sessions();
  if (!rows) return fail(rows.error());
  std::erase_if(*rows, [&](const db::SessionRow& row) { return logs::race_of(row) != plan->name; });
  const auto comparison = logs::compare_sessions(**db, std::move(*rows), {});
  if (!comparison) return fail(comparison.error());
  return report_comparison(*comparison, o.files);
}

}  // namespace

void add_race(Subcommand app, Run& run) {
  auto o = std::make_shared<RaceArguments>();
  Subcommand sub = app.command(run, "race", "Tuners against each other on the same tasks, with several seeds, as a file says; the same file goes on with what is not done", o, race);
  sub.option("file", o->file, "Race file (JSON): networks, target, device, tuners, seeds, options").required().input();
  sub.option("--db", o->db, "Database to store in; beside the file, with its name, if absent").input();
  sub.option("--jobs", o->workers.jobs, "Candidates built at once; 0: one per processor").range(0, 4096);
  add_comparison_files(sub, o->files);
}

}  // namespace tw::cli
