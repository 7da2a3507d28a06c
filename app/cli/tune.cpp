// SPDX-License-Identifier: Apache-2.0
// `tw tune`: searches for fast schedules and stores every trial.
#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/network_report.h"
#include "app/cli/param_options.h"
#include "app/cli/tuning.h"
#include "app/cli/workspace.h"
#include "engine/base/duration.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/farm/farm_file.h"
#include "engine/measure/device.h"
#include "engine/process/temporary_folder.h"
#include "engine/records/latency_log.h"
#include "engine/records/json_lines.h"

namespace tw::cli {
namespace {

constexpr int64_t kDefaultTrialsPerTask = 64;

struct TuneArguments {
  NetworkOptions network;
  ParamOptions session = ParamOptions(tune::session_schema());
  std::vector<std::string> tuner_params, scheduler_params, filters;
  std::string db, log, latency_log, device = measure::kLocalDevice, network_finals = "auto";
  measure::WorkerOptions workers;
  std::string backup_every = "1h";
  bool resume = false, json = false;
};

/// The session's options from the command line. Errors: invalid_argument, unsupported.
Expected<tune::SessionOptions> options_of(const TuneArguments& o) {
  TW_TRY(Json json, o.session.given());
  TW_TRY(json["tuner_params"], named_values("--tuner-param", o.tuner_params));
  TW_TRY(json["scheduler_params"], named_values("--scheduler-param", o.scheduler_params));
  TW_TRY(tune::SessionOptions s, tune::session_options(json));
  if (s.trials == 0 && s.trials_per_task == 0 && s.time_s == 0) s.trials_per_task = kDefaultTrialsPerTask;
  return s;
}

/// Whether the session ends with finals in the network. What they need is asked for before it begins; nothing, with `exit` set, if that is where it ends.
std::optional<bool> can_try_network(const TuneArguments& o, const Target& target, const std::string& device, bool all_tasks, int& exit) {
  if (!wants_network_report(o.network_finals, all_tasks)) return false;
  if (measure::is_simulated(device) || device.starts_with(records::kRecordedDevice)) return true;  // nothing runs there
  if (farm::is_farm_device(device) && target.gpu) {
    if (o.network_finals == "auto") return false;
    exit = fail_usage("Expected '--network-finals auto' or 'never' with GPUs of a farm, which run kernels and no networks, found 'always'");
    return std::nullopt;
  }
  const auto folder = process::TemporaryFolder::create();
  if (folder) return true;
  const Error e = Error(folder.error()).note("$TMPDIR names another folder");
  if (o.network_finals == "auto") {
    note(fmt::format("Note: what wins alone will not be tried in the network: {}", e.text()));
    return false;
  }
  exit = fail(e);
  return std::nullopt;
}

int tune_model(const TuneArguments& o) {
  auto session = options_of(o);
  if (!session) return fail_usage(session.error().message);
  const auto backup_every = parse_duration(o.backup_every);
  if (!backup_every) return fail(backup_every.error());
  int exit = kDone;
  const auto loaded = load_network(o.network, exit);
  if (!loaded) return exit;
  const std::string path = o.db.empty() ? default_database_path() : o.db;
  if (o.db.empty()) {
    if (auto r = make_parent_folder(path); !r) return fail(r.error());
  }
  auto db = open_workspace(path);
  if (!db) return fail(db.error());
  (*db)->back_up_every(*backup_every);
  const std::string device = loaded->device(o.device);
  const auto finals = can_try_network(o, loaded->target, device, o.filters.empty() && session->space.empty(), exit);
  if (!finals) return exit;
  outlive_terminal();
  TuneRequest request{&*loaded, loaded->path, o.filters, *session, o.resume, o.log, o.latency_log, o.workers, device};
  auto result = tune_network(request, *db);
  if (!result) return fail(result.error());
  if (!o.json) put(tune_table(*result));
  Json network;
  if (!result->report.cancelled && result->report.anything_measured() && *finals) {
    const auto reported = report_network({&*loaded, loaded->path, device, result->session, o.workers, {}}, **db);
    if (!reported && (reported.error().code == ErrorCode::cancelled || o.network_finals != "auto")) return fail(reported.error());
    if (!reported) note(fmt::format("Note: what won alone was not tried in the network: {}", reported.error().text()));  // the session is done and stored
    if (reported) network = finals_json(*reported);
    if (reported && !o.json) print("\n{}", finals_table(*reported));
  }
  if (o.json) {
    Json document = tune_json(request, *result);
    document["db"] = path;
    document["network"] = network;
    print_json(document);
  }
  if (!result->report.cancelled) {
    if (!result->report.anything_measured()) return fail(Error(ErrorCode::infrastructure, nothing_measured_text(result->report)));
    if (!result->lost) return kDone;
    return fail(Error(result->lost->code, fmt::format("{}; `tw records export --db {} --session {}` writes the trials' lines", result->lost->text(), printable(path),
                                                      result->session.value)));
  }
  note(fmt::format("Cancelled; every trial is in '{}', and --resume goes on", path));
  return kCancelled;
}

}  // namespace

void add_tune(Subcommand app, Run& run) {
  auto o = std::make_shared<TuneArguments>();
  Subcommand sub = app.command(run, "tune", "Searches for fast schedules of a network's tasks and stores every trial", o, tune_model);
  add_network_options(sub, o->network);
  o->session.declare(sub);
  std::string tuners;
  for (const auto& t : tune::strategies()) tuners += fmt::format("{}{}", tuners.empty() ? "" : ", ", t.name);
  sub.option("--tuner-param", o->tuner_params, fmt::format("Parameter of the tuner, as name=value; may be repeated. Tuners: {}", tuners));
  sub.option("--scheduler-param", o->scheduler_params, "Parameter of the scheduler, as name=value, such as target_ms=5 of gradient; may be repeated");
  sub.option("--db", o->db, "Database to store in; " + default_database_path() + " if absent").input();
  sub.option("--backup-every", o->backup_every, "Back the database up beside itself so often while it is tuned, such as 30m; 0: never; five backups stay").show_default();
  sub.flag("--resume", o->resume, "Go on with the last session of the same model, tuner, target and seed; its trials count");
  sub.option("--log", o->log, "Also append AutoTVM's JSON lines to this file").output(records::kLinesFile);
  sub.option("--log-latency", o->latency_log, "Write the network's estimated latency after every round to this file, as a table with tabs").output(records::kLatencyLog);
  sub.option("--device", o->device,
             "What measures: local; cuda:0 and so on, a GPU of this machine; sim: and the name of a GPU, such as sim:a100, for times from a formula; recorded: "
             "and a workspace, a recorded space, another program's log or a cache file of Kernel Tuner, to replay its trials; farm: and a kind of devices, such as farm:rpi4, for those of a farm (`tw farm`); "
             "farm:rpi4@lab is a farm of another name, farm:rpi4/0 more urgent than farm:rpi4/1, which is usual, and farm:rpi4/2 less")
      .show_default();
  sub.option("--task", o->filters, "Only tasks whose name contains this or whose key begins with it; may be repeated");
  sub.option("--jobs", o->workers.jobs, "Candidates built at once; 0: one per processor").range(0, 4096);
  sub.option("--network-finals", o->network_finals,
             "Try what won alone inside the network in the end: auto (after sessions over all tasks), always or never; as `tw finals`")
      .one_of(kNetworkFinals)
      .show_default();
  sub.flag("--json", o->json, "One JSON document on standard output");
}

}  // namespace tw::cli
