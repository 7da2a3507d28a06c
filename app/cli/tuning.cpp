// SPDX-License-Identifier: Apache-2.0
#include "app/cli/tuning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "app/cli/common.h"
#include "app/cli/host.h"
#include "app/cli/progress.h"
#include "app/cli/table.h"
#include "db/recorded.h"
#include "engine/api/network_finals.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/recorded_device.h"
#include "engine/records/autotvm_log.h"
#include "engine/space/template.h"

namespace tw::cli {
namespace {

Json session_json(const TuneRequest& r) {
  Json json = tune::to_json(r.session);
  json["task_filters"] = r.filters;
  json["device"] = r.device;
  return json;
}

std::vector<api::NetworkTask> chosen_tasks(const TuneRequest& r) {
  std::vector<api::NetworkTask> tasks = api::network_tasks(r.network->network, r.network->target);
  std::erase_if(tasks, [&](const api::NetworkTask& t) {
    if (!r.session.space.empty() && !space::find_template(*t.task.dag, t.task.target, r.session.space)) return true;
    return !r.filters.empty() && std::none_of(r.filters.begin(), r.filters.end(),
                                              [&](const std::string& f) { return t.task.name.find(f) != std::string::npos || t.task.key.starts_with(f); });
  });
  return tasks;
}

/// The newest session with the same model, tuner, target, seed, parameters and task filters.
std::optional<db::SessionRow> session_to_resume(const std::vector<db::SessionRow>& sessions, const TuneRequest& r) {
  std::optional<db::SessionRow> found;
  const Json wanted = session_json(r);
  for (const db::SessionRow& s : sessions) {
    const auto same = [&](const char* key) { return s.options.contains(key) && s.options[key] == wanted[key]; };
    if (s.tuner == r.session.tuner && s.target == r.network->target.str() && same("seed") && same("tuner_params") && same("task_filters") &&
        s.options.value("space", "") == r.session.space && s.options.value("device", measure::device_for(r.network->target)) == r.device &&
        (!found || found->id < s.id)) {
      found = s;
    }
  }
  return found;
}

/// What measures. Errors: not_found if a workspace that is to be replayed has no trials of the tasks; those of opening.
Expected<measure::Device> open_device(const TuneRequest& r, const std::vector<api::NetworkTask>& tasks) {
  if (!r.device.starts_with(records::kRecordedDevice)) return measure::open_device(r.device, r.network->target, r.workers);
  const std::string file = r.device.substr(records::kRecordedDevice.size());
  TW_TRY(const auto db, db::Database::open(file, db::Mode::read_only));
  std::vector<std::string> keys;
  for (const api::NetworkTask& t : tasks) keys.push_back(t.task.key);
  TW_TRY(auto trials, db::recorded_trials(*db, keys));
  if (trials->size() == 0) return Error(ErrorCode::not_found, fmt::format("Expected trials of the chosen tasks in '{}', found none", printable(file)));
  note(fmt::format("Replaying {} recorded trials: nothing is measured", trials->size()));
  return measure::recorded_device(r.device, std::move(trials));
}

/// What is said wherever times are shown that are not measured here and now; empty for others.
std::string kind_of_times(const std::string& device) {
  if (device.starts_with(records::kRecordedDevice))
    return fmt::format("Times replayed from '{}', not measured again", device.substr(records::kRecordedDevice.size()));
  return measure::is_simulated(device) ? fmt::format("Simulated times of {}, not measured ones", device) : "";
}

struct Stored {
  SessionId session;
  int64_t resumed = 0;
  std::vector<tune::SessionTask> tasks;
};

/// What the database holds of tasks for the same target.
Expected<std::vector<tune::EarlierTrials>> earlier_trials(db::Database& db, const Target& target) {
  std::vector<tune::EarlierTrials> earlier;
  TW_TRY(const auto rows, db.tasks());
  for (const db::TaskRow& row : rows) {
    if (row.trials == 0 || row.target != target.str()) continue;
    tune::EarlierTrials e;
    TW_TRY(e.task, task_of(row));
    TW_TRY(auto trials, db.trials(std::nullopt, row.id, {}, -1, true));
    for (db::TrialRow& t : trials) e.records.push_back(std::move(t.record));
    earlier.push_back(std::move(e));
  }
  return earlier;
}

/// Puts the model and its tasks into the database and begins or finds the session.
Expected<Stored> prepare(const TuneRequest& r, const std::vector<api::NetworkTask>& tasks, db::Database& db) {
  Stored stored;
  TW_TRY(const StoredNetwork rows, store_network(db, *r.network, r.model_path, tasks));
  for (const api::NetworkTask& t : tasks) stored.tasks.push_back({t.task, t.weight, {}});
  if (r.resume) {
    TW_TRY(const auto sessions, db.sessions(rows.model));
    if (const auto found = session_to_resume(sessions, r)) {
      stored.session = found->id;
      for (size_t i = 0; i < rows.tasks.size(); ++i) {
        TW_TRY(auto trials, db.trials(found->id, rows.tasks[i], {}, -1, true));
        for (db::TrialRow& row : trials) stored.tasks[i].history.push_back(std::move(row.record));
        stored.resumed += static_cast<int64_t>(stored.tasks[i].history.size());
      }
      return stored;
    }
    note("There is no such session to go on with; this begins a new one");
  }
  TW_TRY(stored.session, db.begin_session(rows.model, r.session.tuner, r.network->target.str(), session_json(r), host_description()));
  return stored;
}

/// How many ran against each other, and whether another trial than before is best now.
std::string finals_text(const std::string& task, const tune::FinalsDone& e) {
  const auto winner =
      std::min_element(e.finalists.begin(), e.finalists.end(), [](const auto& a, const auto& b) { return a.result.decided_s() < b.result.decided_s(); });
  const records::Verdict& v = *winner->result.verdict;
  const std::string outcome = winner == e.finalists.begin() ? std::string("none is surely faster than the best trial")
                                                            : fmt::format("another is best, {:.1f} to {:.1f} % faster", (1 - v.high) * 100, (1 - v.low) * 100);
  return fmt::format("{}: finals of {}, {}", task, e.finalists.size(), outcome);
}

/// Session events as progress on standard error.
class Monitor {
 public:
  Monitor(const std::vector<api::NetworkTask>& tasks, int64_t resumed) : tasks_(tasks), progress_("Tuning", 0), done_(resumed) { progress_.start_at(resumed); }

  void operator()(const tune::Event& event) {
    if (const auto* e = std::get_if<tune::SessionPlanned>(&event)) {
      progress_.set_total(e->trials);
    } else if (const auto* e = std::get_if<tune::TaskStarted>(&event)) {
      progress_.line(
          fmt::format("{}: {} points in '{}'{}", name(e->task), e->space_size, e->space, e->budget > 0 ? fmt::format(", {} trials", e->budget) : ""));
    } else if (const auto* e = std::get_if<tune::TrialDone>(&event)) {
      progress_.update(++done_, fmt::format("{}: {} best {}", name(e->task), rate(e->task, e->record.result.seconds()), rate(e->task, e->best_s)));
    } else if (const auto* e = std::get_if<tune::TaskDone>(&event)) {
      progress_.line(fmt::format("{}: default {}, best {} after {} trials", name(e->task), time_text(e->default_s), time_text(e->best_s), e->trials));
    } else if (const auto* e = std::get_if<tune::FinalsDone>(&event)) {
      progress_.line(finals_text(name(e->task), *e));
    } else if (const auto* e = std::get_if<tune::Note>(&event)) {
      progress_.line(e->text);
    } else {
      progress_.update(done_, name(std::get<tune::Phase>(event).task) + ": " + std::get<tune::Phase>(event).name);
    }
  }

 private:
  const std::string& name(int task) const { return tasks_[static_cast<size_t>(task)].task.name; }
  std::string rate(int task, double seconds) const {
    return std::isfinite(seconds) && seconds > 0 ? si_text(static_cast<double>(tasks_[static_cast<size_t>(task)].task.flops) / seconds, "FLOP/s") : "failed";
  }

  const std::vector<api::NetworkTask>& tasks_;
  Progress progress_;
  int64_t done_ = 0;
};

std::string failures_text(const tune::TaskDone& t) {
  std::vector<std::string> parts;
  for (const auto& [status, count] : t.by_status)
    if (status != records::Status::ok && count > 0) parts.push_back(fmt::format("{} {}", count, records::status_name(status)));
  return parts.empty() ? "-" : fmt::format("{}", fmt::join(parts, ", "));
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
  TW_TRY(rows.model, db.put_model(network.imported.name, path, network.content_key, network_summary(network)));
  for (const api::NetworkTask& t : tasks) {
    TW_TRY(const TaskId id, db.put_task(t.task));
    TW_CHECK(db.link_task(rows.model, id, t.weight));
    rows.tasks.push_back(id);
  }
  return rows;
}

Expected<records::Task> task_of(const db::TaskRow& row) {
  TW_TRY(auto dag, te::parse_dag(row.dag_text));
  TW_TRY(Target target, parse_target(row.target));
  return records::Task{row.key, row.name, std::move(dag), std::move(target), row.flops};
}

Expected<TuneResult> tune_network(const TuneRequest& request, const std::shared_ptr<db::Database>& db) {
  TuneResult result;
  result.device = request.device;
  result.tasks = chosen_tasks(request);
  if (result.tasks.empty()) {
    const std::string& space = request.session.space;
    return Error(ErrorCode::invalid_argument, fmt::format("No task of '{}' matches{}{}", request.model_path,
                                                          request.filters.empty() ? "" : fmt::format(" --task {}", fmt::join(request.filters, " ")),
                                                          space.empty() ? "" : fmt::format(" --space {}", printable(space))));
  }
  TW_TRY(const measure::Device device, open_device(request, result.tasks));
  TW_TRY(auto stored, prepare(request, result.tasks, *db));
  result.session = stored.session;
  result.resumed_trials = stored.resumed;
  if (stored.resumed > 0) note(fmt::format("Going on with session {}: {} trials are there", stored.session.value, stored.resumed));
  const auto database = db::session_sink(db, stored.session);
  std::unique_ptr<records::RecordSink> log, both;
  if (!request.log_path.empty()) {
    TW_TRY(log, records::autotvm_log_sink(request.log_path, measure::is_simulated(request.device)));
    both = records::tee_sink(*database, *log);
  }
  Monitor monitor(result.tasks, stored.resumed);
  std::vector<tune::EarlierTrials> earlier;
  if (request.session.transfer) {
    TW_TRY(earlier, earlier_trials(*db, request.network->target));
  }
  tune::SessionOptions session = request.session;
  session.weights = api::weights_of(request.network->network, request.network->target);
  auto report = tune::run_session(stored.tasks, session, *device.builder, *device.runner, both ? *both : *database, std::ref(monitor),
                                  {stop_token(), {}, &earlier});
  const bool cancelled = stop_token().stop_requested() || (report && report->cancelled);
  const char* state = cancelled ? "cancelled" : report && anything_measured(*report) ? "done" : "interrupted";
  const auto ended = db->end_session(stored.session, state);
  if (!report) return report.error();
  if (!ended) return ended.error();
  result.report = std::move(*report);
  result.report.cancelled = cancelled;
  return result;
}

bool anything_measured(const tune::SessionReport& report) {
  return std::any_of(report.tasks.begin(), report.tasks.end(), [](const tune::TaskDone& t) { return t.by_status.contains(records::Status::ok); });
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
    if (!std::isfinite(t.default_s) || !std::isfinite(best)) continue;
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
                     {"failures", failures}});
  }
  const NetworkTime time = network_time(result);
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
  return table.text() + (kind.empty() ? "" : kind + "\n") +
         fmt::format("\nSum over the network: default {}, tuned {}, {}\n", time_text(time.default_s), time_text(time.best_s),
                     ratio_text(time.default_s / time.best_s)) +
         cost_text(result.report);
}

}  // namespace tw::cli
