// SPDX-License-Identifier: Apache-2.0
#include "app/cli/race_session.h"

#include "app/cli/common.h"
#include "app/cli/comparison_report.h"
#include "engine/api/network_finals.h"
#include "engine/api/tune.h"
#include "engine/base/json.h"

namespace tw::cli {
namespace {

/// A session of the race that is the same search: done with the same limits, or to go on with.
struct Earlier {
  SessionId session;
  bool done = false;
};
Expected<Earlier> earlier_session(db::Database& db, ModelId model, const api::TuneRequest& request) {
  TW_TRY(const auto rows, db.sessions(model));
  Earlier found;
  for (const db::SessionRow& row : rows) {
    const records::StoredSession stored{row.id, row.tuner, row.target, dump_json(row.options)};
    if (logs::race_of(row) != request.race || !api::is_same_search(stored, request)) continue;
    const auto then = tune::session_options(row.options);
    if (!then) continue;
    const bool same = then->trials == request.options.trials && then->trials_per_task == request.options.trials_per_task && then->time_s == request.options.time_s;
    found = {row.id, row.state == "done" && same};
  }
  return found;
}

}  // namespace

Expected<RaceSession> run_race_session(TuneRequest request, const std::shared_ptr<db::Database>& db, const std::string& title) {
  const LoadedNetwork& loaded = *request.network;
  if (request.session.weights == records::Weights::unknown) request.session.weights = api::weights_of(loaded.network, loaded.target);
  TW_TRY(const StoredNetwork stored, store_network(*db, loaded, request.model_path, {}));
  TW_TRY(const Earlier earlier,
         earlier_session(*db, stored.model, {.filters = request.filters, .target = loaded.target, .options = request.session, .device = request.device, .race = request.race}));
  if (earlier.done) {
    note(title + " is done");
    return RaceSession{earlier.session};
  }
  note(title);
  request.resume = static_cast<bool>(earlier.session), request.earlier = earlier.session;
  TW_TRY(const TuneResult result, tune_network(request, db));
  if (!result.report.cancelled && !result.report.anything_measured()) return Error(ErrorCode::infrastructure, nothing_measured_text(result.report));
  return RaceSession{result.session, result.report.cancelled};
}

}  // namespace tw::cli
