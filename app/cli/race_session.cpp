// SPDX-License-Identifier: Apache-2.0
#include "app/cli/race_session.h"

#include "app/cli/common.h"
#include "app/logs/earlier_session.h"
#include "engine/api/compile.h"
#include "engine/api/tune.h"

namespace tw::cli {

Expected<RaceSession> run_race_session(TuneRequest request, const std::shared_ptr<db::Database>& db, const std::string& title) {
  const LoadedNetwork& loaded = *request.network;
  if (request.session.weights == records::Weights::unknown) request.session.weights = api::weights_of(loaded.network, loaded.target);
  TW_TRY(const StoredNetwork stored, store_network(*db, loaded, request.model_path, {}));
  TW_TRY(const logs::EarlierSession earlier,
         logs::earlier_session(*db, stored.model, {.filters = request.filters, .target = loaded.target, .options = request.session, .device = request.device, .race = request.race}));
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
