// SPDX-License-Identifier: Apache-2.0
// `tw tune`: searches for fast schedules and stores every trial.
#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/tuning.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/records/json_lines.h"

namespace tw::cli {
namespace {

constexpr int64_t kDefaultTrialsPerTask = 64;

struct TuneArguments {
  NetworkOptions network;
  std::string tuner = "random", time, db, log, device = measure::kLocalDevice;
  std::vector<std::string> tuner_params, filters;
  tune::SessionOptions session;
  measure::WorkerOptions workers;
  bool resume = false, json = false;
};

/// `k=v` pairs as an object, checked against the tuner's schema.
Expected<Json> tuner_params(const tune::StrategyDef& tuner, const std::vector<std::string>& pairs) {
  Json given = Json::object();
  for (const std::string& pair : pairs) {
    const size_t at = pair.find('=');
    if (at == std::string::npos || at == 0)
      return Error(ErrorCode::invalid_argument, fmt::format("Expected --tuner-param name=value, found '{}'", printable(pair)));
    const std::string value = pair.substr(at + 1);
    const auto parsed = parse_json(value);
    given[pair.substr(0, at)] = parsed ? *parsed : Json(value);
  }
  return resolve_params(tuner.params, given);
}

/// The session's options from the command line. Errors: invalid_argument.
Expected<tune::SessionOptions> session_options(const TuneArguments& o) {
  tune::SessionOptions s = o.session;
  s.tuner = o.tuner;
  const tune::StrategyDef* tuner = tune::find_strategy(o.tuner);
  if (tuner == nullptr) {
    std::vector<std::string> names;
    for (const auto& t : tune::strategies()) names.push_back(t.name);
    return Error(ErrorCode::invalid_argument, fmt::format("Expected a tuner among {}, found '{}'", fmt::join(names, ", "), printable(o.tuner)));
  }
  TW_TRY(s.tuner_params, tuner_params(*tuner, o.tuner_params));
  if (!o.time.empty()) {
    TW_TRY(s.time_s, parse_duration(o.time));
  }
  if (s.trials == 0 && s.trials_per_task == 0 && s.time_s == 0) s.trials_per_task = kDefaultTrialsPerTask;
  return s;
}

int tune_model(const TuneArguments& o) {
  auto session = session_options(o);
  if (!session) return fail(session.error());
  int exit = kDone;
  const auto loaded = load_network(o.network, exit);
  if (!loaded) return exit;
  const std::string path = o.db.empty() ? default_database_path() : o.db;
  if (o.db.empty()) {
    if (auto r = make_parent_folder(path); !r) return fail(r.error());
  }
  auto db = db::Database::open(path);
  if (!db) return fail(db.error());
  outlive_terminal();
  TuneRequest request{&*loaded, o.network.model, o.filters, *session, o.resume, o.log, o.workers, o.device};
  auto result = tune_network(request, *db);
  if (!result) return fail(result.error());
  if (o.json) {
    Json document = tune_json(request, *result);
    document["db"] = path;
    print_json(document);
  } else {
    put(tune_table(*result));
  }
  if (!result->report.cancelled)
    return anything_measured(result->report) ? kDone : fail(Error(ErrorCode::infrastructure, nothing_measured_text(result->report)));
  note(fmt::format("Cancelled; every trial is in '{}', and --resume goes on", path));
  return kCancelled;
}

}  // namespace

void add_tune(Subcommand app, Run& run) {
  auto o = std::make_shared<TuneArguments>();
  Subcommand sub = app.command(run, "tune", "Searches for fast schedules of a network's tasks and stores every trial", o, tune_model);
  add_network_options(sub, o->network);
  constexpr int64_t kMost = int64_t{1} << 40;
  std::string tuners;
  for (const auto& t : tune::strategies()) tuners += fmt::format("{}{}", tuners.empty() ? "" : ", ", t.name);
  sub.option("--tuner", o->tuner, "One of: " + tuners).show_default();
  sub.option("--tuner-param", o->tuner_params, "Parameter of the tuner, as name=value; may be repeated");
  sub.option("--space", o->session.space, "Search this template's space, such as AutoTVM's dense_pack.x86, of the tasks that have it (tw tasks lists them)");
  sub.option("--trials", o->session.trials, "Trials over all tasks").range(int64_t{0}, kMost);
  sub.option("--trials-per-task", o->session.trials_per_task, fmt::format("Trials of each task; {} if no limit is given", kDefaultTrialsPerTask))
      .range(int64_t{0}, kMost);
  sub.option("--time", o->time, "Time limit, such as 90s or 30m");
  sub.option("--seed", o->session.seed, "Seed of the search").show_default();
  sub.option("--db", o->db, "Database to store in; " + default_database_path() + " if absent").input();
  sub.flag("--resume", o->resume, "Go on with the last session of the same model, tuner, target and seed; its trials count");
  sub.option("--log", o->log, "Also append AutoTVM's JSON lines to this file").output(records::kLinesFile);
  sub.option("--device", o->device,
             "What measures: local; cuda:0 and so on, a GPU of this machine; sim: and the name of a GPU, such as sim:a100, for times from a formula; recorded: "
             "and a workspace, to replay its trials")
      .show_default();
  sub.option("--task", o->filters, "Only tasks whose name contains this or whose key begins with it; may be repeated");
  sub.option("--jobs", o->workers.jobs, "Candidates built at once; 0: one per processor").range(0, 4096);
  sub.option("--early-stopping", o->session.early_stopping, "Stop a task after so many trials without a better one; 0: never").range(int64_t{0}, kMost);
  sub.flag("--transfer", o->session.transfer, "Tuners that can also learn from the session's other tasks, and from what the database holds of tasks alike");
  sub.option("--finalists", o->session.finalists, "Fastest trials of a task that run against each other in the end; below 2: none").range(0, 64).show_default();
  sub.option("--batch", o->session.batch, "Candidates proposed and measured together").range(1, 4096).show_default();
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
