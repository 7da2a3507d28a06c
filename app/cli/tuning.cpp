// SPDX-License-Identifier: Apache-2.0
#include "app/cli/tuning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "app/cli/common.h"
#include "app/cli/host.h"
#include "app/cli/session_monitor.h"
#include "app/cli/table.h"
#include "app/logs/network_summary.h"
#include "app/logs/recorded_space.h"
#include "db/session_workspace.h"
#include "engine/api/network_finals.h"
#include "engine/api/tune.h"
#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/records/autotvm_log.h"
#include "engine/records/latency_log.h"
#include "engine/space/template.h"

namespace tw::cli {
namespace {

std::vector<api::NetworkTask> chosen_tasks(const TuneRequest& r) {
  std::vector<api::NetworkTask> tasks = api::network_tasks(r.network->network, r.network->target);
  std::erase_if(tasks, [&](const api::NetworkTask& t) {
    if (!r.session.space.empty() && !space::find_template(*t.task.dag, t.task.target, r.session.space)) return true;
    return !r.filters.empty() && std::none_of(r.filters.begin(), r.filters.end(),
                                              [&](const std::string& f) { return t.task.name.find(f) != std::string::npos || t.task.key.starts_with(f); });
  });
  return tasks;
}

/// Files that are written beside the database. One that fails is said to, and the session goes on.
class BesideFiles {
 public:
  void add(std::unique_ptr<records::RecordSink> file, std::optional<Error>& lost) {
    files_.push_back(std::move(file));
    files_.push_back(records::lenient_sink(*files_.back(), [&lost](const Error& error) {
      note(fmt::format("Note: {}; the session goes on, and every trial is in the database", error.text()));
      if (!lost) lost = error;
    }));
    if (sink_ != nullptr) {
      files_.push_back(records::tee_sink(*sink_, *files_.back()));
    }
    sink_ = files_.back().get();
  }
  records::RecordSink* sink() const { return sink_; }

 private:
  std::vector<std::unique_ptr<records::RecordSink>> files_;
  records::RecordSink* sink_ = nullptr;
};

std::string failures_text(const tune::TaskDone& t) {
  std::vector<std::string> parts;
  for (const auto& [status, count] : t.by_status)
    if (status != records::Status::ok && count > 0) parts.push_back(fmt::format("{} {}", count, records::status_name(status)));
  return parts.empty() ? "-" : fmt::format("{}", fmt::join(parts, ", "));
}

/// The network's estimated latency at some ten of the rounds.
std::string curve_text(const std::vector<records::Round>& rounds) {
  constexpr size_t kLines = 10;
  std::vector<const records::Round*> known;
  for (const records::Round& r : rounds)
    if (std::isfinite(r.network_s)) known.push_back(&r);
  if (known.size() < 2) return {};
  Table table({">trials", ">time", ">network"});
  for (size_t line = 0; line < std::min(kLines, known.size()); ++line) {
    const records::Round& r = *known[line * (known.size() - 1) / (std::min(kLines, known.size()) - 1)];
    table.row({std::to_string(r.session_trials), fmt::format("{:.1f} s", r.elapsed_s), time_text(r.network_s)});
  }
  return "Estimated latency of the network, the sum of weight x best, while it was tuned:\n" + table.text() + "\n";
}

/// Which tasks have no finals though they were due.
std::string without_finals_text(const TuneResult& result) {
  std::vector<std::string> names;
  for (const tune::TaskDone& t : result.report.tasks)
    if (t.without_finals) names.push_back(result.tasks[static_cast<size_t>(t.task)].task.name);
  if (names.empty()) return {};
  return fmt::format("Without finals, so that their best may be luck: {}; --resume makes them up\n", fmt::join(names, ", "));
}

/// What the session spent its time on.
std::string cost_text(const tune::SessionReport& r) {
  if (!(r.total_s > 0)) return {};
  const auto share = [&](double seconds) { return 100 * seconds / r.total_s; };
  return fmt::format("Time {:.1f} s: building {:.0f} %, measuring {:.0f} %, searching {:.0f} %, rest {:.0f} %\n", r.total_s, share(r.build_s),
                     share(r.measure_s), share(r.search_s), share(r.idle_s()));
}

}  // namespace

Expected<StoredNetwork> store_network(db::Database& db, const LoadedNetwork& loaded, const std::string& path, const std::vector<api::NetworkTask>& tasks) {
  StoredNetwork rows;
  const api::Network& network = loaded.network;
  TW_TRY(rows.model, db.put_model(network.imported.name, path, network.content_key, logs::network_summary(network)));
  for (const api::NetworkTask& t : tasks) {
    TW_TRY(const TaskId id, db.put_task(t.task));
    TW_CHECK(db.link_task(rows.model, id, t.weight, t.constants));
    rows.tasks.push_back(id);
  }
  return rows;
}

Expected<TuneResult> tune_network(const TuneRequest& request, const std::shared_ptr<db::Database>& db) {
  TuneResult result;
  result.device = request.device;
  const double extract_start = clock_now_s(CLOCK_MONOTONIC);
  result.tasks = chosen_tasks(request);
  const double extract_s = clock_now_s(CLOCK_MONOTONIC) - extract_start;
  if (result.tasks.empty()) {
    const std::string& space = request.session.space;
    return Error(ErrorCode::invalid_argument, fmt::format("No task of '{}' matches{}{}", request.model_path,
                                                          request.filters.empty() ? "" : fmt::format(" --task {}", fmt::join(request.filters, " ")),
                                                          space.empty() ? "" : fmt::format(" --space {}", printable(space))));
  }
  TW_TRY(const StoredNetwork rows, store_network(*db, *request.network, request.model_path, result.tasks));
  api::TuneRequest session{.filters = request.filters,
                           .target = request.network->target,
                           .options = request.session,
                           .device = request.device,
                           .workers = request.workers,
                           .resume = request.resume,
                           .session = request.earlier,
                           .race = request.race};
  if (request.device.starts_with(records::kRecordedDevice)) {
    std::vector<records::Task> tasks;
    for (const api::NetworkTask& t : result.tasks) tasks.push_back(t.task);
    TW_TRY(session.replay, logs::trials_in_file(*db, request.device.substr(records::kRecordedDevice.size()), tasks, stop_token()));
  }
  if (session.options.weights == records::Weights::unknown) session.options.weights = api::weights_of(request.network->network, request.network->target);
  for (const api::NetworkTask& t : result.tasks) session.tasks.push_back({t.task, t.weight, {}});
  Json host = host_with_peak(request.network->target);
  host[records::kExtractTime] = extract_s;
  const auto store = db::session_store(db, rows.model, host);
  BesideFiles beside;
  if (!request.log_path.empty()) {
    TW_TRY(auto log, records::autotvm_log_sink(request.log_path, measure::is_simulated(request.device)));
    beside.add(std::move(log), result.lost);
  }
  if (!request.latency_path.empty()) {
    std::vector<records::Round> rounds;
    TW_TRY(const SessionId resumed, api::session_to_resume(session, *store));
    if (resumed) {
      TW_TRY(rounds, store->rounds(resumed));
    }
    TW_TRY(auto latency, records::latency_log_sink(request.latency_path, rounds));
    beside.add(std::move(latency), result.lost);
  }
  SessionMonitor monitor(result.tasks);
  api::TuneHooks hooks{.events = std::ref(monitor), .also = beside.sink(), .stop = stop_token()};
  hooks.begun = [&](SessionId id, const std::vector<int64_t>& trials) {
    const int64_t there = std::accumulate(trials.begin(), trials.end(), int64_t{0});
    monitor.start_at(there);
    if (const std::string kind = kind_of_times(request.device); !kind.empty()) note(kind);
    if (request.device == measure::kLocalDevice) note_missing_processors(request.network->target);
    if (there > 0) note(fmt::format("Going on with session {}: {} trials are there", id.value, there));
    if (request.resume && there == 0) note("There is no such session to go on with; this begins a new one");
  };
  TW_TRY(api::TuneOutcome outcome, api::tune(std::move(session), *store, hooks));
  result.session = outcome.session;
  result.resumed_trials = outcome.resumed_trials;
  result.report = std::move(outcome.report);
  return result;
}

std::string nothing_measured_text(const tune::SessionReport& report) {
  std::map<records::Status, int64_t> counts;
  int64_t trials = 0;
  for (const tune::TaskDone& t : report.tasks) {
    trials += t.trials;
    for (const auto& [status, count] : t.by_status) counts[status] += count;
  }
  std::vector<std::string> parts;
  for (const auto& [status, count] : counts) parts.push_back(fmt::format("{} {}", count, records::status_name(status)));
  return fmt::format("Nothing was measured: none of {} trials gave a time{}{}", trials, parts.empty() ? "" : ": ", fmt::join(parts, ", "));
}

NetworkTime network_time(const TuneResult& result) {
  NetworkTime time;
  for (size_t i = 0; i < result.report.tasks.size(); ++i) {
    const tune::TaskDone& t = result.report.tasks[i];
    const double weight = result.tasks[static_cast<size_t>(t.task)].weight;
    const double best = std::isfinite(t.best_s) ? t.best_s : t.default_s;
    time.default_s += weight * t.default_s;
    time.best_s += weight * best;
  }
  return time;
}

Json tune_json(const TuneRequest& request, const TuneResult& result) {
  Json tasks = Json::array();
  int64_t trials = 0;
  for (const tune::TaskDone& t : result.report.tasks) {
    const api::NetworkTask& task = result.tasks[static_cast<size_t>(t.task)];
    Json failures = Json::object();
    for (const auto& [status, count] : t.by_status)
      if (status != records::Status::ok) failures[records::status_name(status)] = count;
    trials += t.trials;
    tasks.push_back({{"name", task.task.name},
                     {"key", task.task.key},
                     {"weight", task.weight},
                     {"flops", task.task.flops},
                     {"default_s", json_number(t.default_s)},
                     {"best_s", json_number(t.best_s)},
                     {"speedup", json_number(t.default_s / t.best_s)},
                     {"flop_per_s", json_number(static_cast<double>(task.task.flops) / t.best_s)},
                     {"trials", t.trials},
                     {"without_finals", t.without_finals},
                     {"failures", failures}});
  }
  const NetworkTime time = network_time(result);
  Json rounds = Json::array();
  for (const records::Round& r : result.report.rounds)
    rounds.push_back({{"number", r.number},
                      {"task_key", r.task_key},
                      {"trials", r.session_trials},
                      {"elapsed_s", r.elapsed_s},
                      {"measured_s", r.measured_s},
                      {"network_s", json_number(r.network_s)}});
  const tune::ModelCheck& m = result.report.models;
  Json models = Json::object();
  if (m.trials > 0)
    models = {{"trials", m.trials}, {"pairs_in_order", m.pairs}, {"best_of_1", m.best_of_1}, {"best_of_8", m.best_of_8}, {"rmse", m.scores_are_speeds ? Json(m.rmse) : Json()}, {"r_squared", m.scores_are_speeds ? Json(m.r_squared) : Json()}};
  return {{"model", request.network->network.imported.name},
          {"target", request.network->target.str()},
          {"device", result.device},
          {"simulated", measure::is_simulated(result.device)},
          {"replayed", result.device.starts_with(records::kRecordedDevice)},
          {"tuner", request.session.tuner},
          {"seed", request.session.seed},
          {"session", result.session.value},
          {"trials", trials},
          {"resumed_trials", result.resumed_trials},
          {"cancelled", result.report.cancelled},
          {"tasks", tasks},
          {"scheduler", request.session.scheduler},
          {"rounds", rounds},
          {"ended", result.report.ended},
          {"models", models},
          {"default_s", time.default_s},
          {"best_s", time.best_s},
          {"build_s", result.report.build_s},
          {"measure_s", result.report.measure_s},
          {"search_s", result.report.search_s},
          {"idle_s", result.report.idle_s()},
          {"total_s", result.report.total_s}};
}

std::string tune_table(const TuneResult& result) {
  Table table({"task", ">weight", ">default", ">best", ">speed-up", ">rate", ">trials", "failures"});
  for (const tune::TaskDone& t : result.report.tasks) {
    const api::NetworkTask& task = result.tasks[static_cast<size_t>(t.task)];
    const double rate = static_cast<double>(task.task.flops) / t.best_s;
    table.row({task.task.name, std::to_string(task.weight), time_text(t.default_s), time_text(t.best_s), ratio_text(t.default_s / t.best_s),
               std::isfinite(rate) && rate > 0 ? si_text(rate, "FLOP/s") : "-", std::to_string(t.trials), failures_text(t)});
  }
  const NetworkTime time = network_time(result);
  const std::string kind = kind_of_times(result.device);
  std::string text = table.text() + (kind.empty() ? "" : kind + "\n") + "\n" + curve_text(result.report.rounds);
  text += fmt::format("Sum over the network: default {}, tuned {}, {}\n", time_text(time.default_s), time_text(time.best_s),
                      ratio_text(time.default_s / time.best_s));
  if (!result.report.ended.empty()) text += result.report.ended + "\n";
  if (const std::string models = tune::model_check_text(result.report.models); !models.empty()) text += models + "\n";
  return text + without_finals_text(result) + cost_text(result.report);
}

}  // namespace tw::cli
