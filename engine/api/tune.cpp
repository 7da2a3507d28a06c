// SPDX-License-Identifier: Apache-2.0
#include "engine/api/tune.h"

#include <algorithm>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/farm/farm_device.h"
#include "engine/farm/farm_file.h"
#include "engine/farm/names.h"
#include "engine/measure/recorded_device.h"
#include "engine/records/autotvm_log.h"

namespace tw::api {
namespace {

/// What must be the same for a session to go on; limits may change.
constexpr const char* kIdentity[] = {"tuner", "tuner_params", "seed", "space", "scheduler", "scheduler_params"};

/// In the stored options of a session on a farm: its name there, with which a session that goes on finds what was measured for it meanwhile.
constexpr const char* kFarmSession = "farm_session";

Json stored_options(const TuneRequest& r) {
  Json json = tune::to_json(r.options);
  json["task_filters"] = r.filters;
  json["device"] = r.device;
  if (!r.race.empty()) json["race"] = r.race;
  return json;
}

bool is_replay(const std::string& device) { return device.starts_with(records::kRecordedDevice); }

/// Empty where they cannot be read.
Expected<Json> options_of(SessionId session, records::SessionStore& store) {
  TW_TRY(const auto sessions, store.sessions());
  for (const records::StoredSession& s : sessions) {
    if (s.id != session) continue;
    if (auto json = parse_json(s.options); json && json->is_object()) return *std::move(json);
  }
  return Json::object();
}

Expected<std::shared_ptr<const records::RecordedTrials>> replayed(const TuneRequest& r, records::SessionStore& store) {
  if (!is_replay(r.device)) return std::shared_ptr<const records::RecordedTrials>();
  if (r.replay) return r.replay;
  const std::string file = r.device.substr(records::kRecordedDevice.size());
  std::vector<std::string> keys;
  for (const tune::SessionTask& t : r.tasks) keys.push_back(t.task.key);
  TW_TRY(std::shared_ptr<records::RecordedTrials> trials, store.recorded(file, keys));
  if (trials->size() == 0) return Error(ErrorCode::not_found, fmt::format("Expected trials of the chosen tasks in '{}', found none", printable(file)));
  return std::shared_ptr<const records::RecordedTrials>(std::move(trials));
}

Expected<tune::SessionReport> run_on_device(const TuneRequest& r, const std::vector<tune::SessionTask>& tasks, records::RecordSink& sink,
                                            const tune::EventSink& events, const tune::SessionControl& control,
                                            const std::shared_ptr<const records::RecordedTrials>& replay, const std::string& farm_session) {
  measure::WorkerOptions workers = r.workers;
  workers.build_timeout_s = r.options.build_timeout_s;
  TW_TRY(const measure::Device device,
         replay ? Expected<measure::Device>(measure::recorded_device(r.device, replay)) : farm::open_device(r.device, r.target, workers, farm_session));
  return tune::run_session(tasks, r.options, *device.builder, *device.runner, sink, events, control);
}

}  // namespace

Json session_identity(const TuneRequest& request) {
  Json all = stored_options(request);
  if (const auto resolved = tune::session_options(all)) all.update(tune::to_json(*resolved));
  Json identity = Json::object();
  for (const char* key : kIdentity) identity[key] = all[key];
  identity["task_filters"] = all["task_filters"];
  identity["device"] = all["device"];
  return identity;
}

bool is_same_search(const records::StoredSession& stored, const TuneRequest& request) {
  const auto json = parse_json(stored.options);
  if (!json || stored.target != request.target.str()) return false;
  const auto options = tune::session_options(*json);
  if (!options) return false;
  TuneRequest then{.filters = json->value("task_filters", std::vector<std::string>()), .target = request.target, .options = *options};
  // Programs that knew one device for each target did not store it.
  then.device = json->value("device", measure::device_for(request.target));
  return session_identity(then) == session_identity(request);
}

Expected<SessionId> session_to_resume(const TuneRequest& r, records::SessionStore& store) {
  if (!r.resume) return SessionId();
  TW_TRY(const auto sessions, store.sessions());
  SessionId found;
  for (const records::StoredSession& s : sessions) {
    if (!(r.session ? s.id == r.session : is_same_search(s, r))) continue;
    found = s.id;
    if (s.target != r.target.str())  // named: its times and those of the request would be taken for one machine's
      return Error(ErrorCode::invalid_argument,
                   fmt::format("Session {} is for the target '{}' and cannot go on for '{}'", s.id.value, s.target, r.target.str()));
  }
  if (r.session && !found) return Error(ErrorCode::not_found, fmt::format("Expected session {} of the network, found none", r.session.value));
  return found;
}

Expected<TuneOutcome> tune(TuneRequest request, records::SessionStore& store, const TuneHooks& hooks) {
  TW_TRY(const auto replay, replayed(request, store));
  TuneOutcome outcome;
  TW_TRY(outcome.session, session_to_resume(request, store));
  std::vector<records::Round> rounds;
  std::vector<int64_t> there(request.tasks.size());
  std::string farm_session;
  if (outcome.session) {
    TW_TRY(rounds, store.rounds(outcome.session));
    for (size_t i = 0; i < request.tasks.size(); ++i) {
      TW_TRY(request.tasks[i].history, store.trials(outcome.session, request.tasks[i].task));
      there[i] = static_cast<int64_t>(request.tasks[i].history.size());
      outcome.resumed_trials += there[i];
    }
    TW_TRY(const Json before, options_of(outcome.session, store));
    // Times with constants in caches and out of them are not compared: what there is decides.
    if (const auto then = tune::session_options(before); then && then->weights != records::Weights::unknown) request.options.weights = then->weights;
    Json options = stored_options(request);
    if (before.contains(kFarmSession) && before[kFarmSession].is_string()) options[kFarmSession] = farm_session = before[kFarmSession].get<std::string>();
    TW_CHECK(store.go_on(outcome.session, options));
  } else {
    Json options = stored_options(request);
    if (farm::is_farm_device(request.device)) options[kFarmSession] = farm_session = farm::random_hex(12);
    TW_TRY(outcome.session, store.begin(request.options.tuner, request.target.str(), options));
  }
  std::vector<tune::PriorTask> earlier;
  if (request.options.transfer) {
    TW_TRY(earlier, store.earlier(request.target));
  }
  if (hooks.begun) hooks.begun(outcome.session, there);
  const auto stored = store.sink(outcome.session);
  const auto both = hooks.also ? records::tee_sink(*hooks.also, *stored) : nullptr;
  records::RecordSink& sink = both ? *both : *stored;
  const tune::SessionControl control{hooks.stop, hooks.paused, &earlier, &rounds};
  auto report = hooks.loop ? hooks.loop(request.tasks, request.options, sink, hooks.events, control, replay)
                           : run_on_device(request, request.tasks, sink, hooks.events, control, replay, farm_session);
  const bool cancelled = report ? report->cancelled : hooks.stop.stop_requested();
  const auto ended = store.end(outcome.session, cancelled ? "cancelled" : report && report->anything_measured() ? "done" : "interrupted");
  if (!report) return report.error();
  if (!ended) return ended.error();
  outcome.report = std::move(*report);
  return outcome;
}

}  // namespace tw::api
