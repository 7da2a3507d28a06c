// SPDX-License-Identifier: Apache-2.0
#include "app/logs/earlier_session.h"

#include "app/logs/comparison_page.h"
#include "engine/base/json.h"

namespace tw::logs {

Expected<EarlierSession> earlier_session(db::Database& db, ModelId model, const api::TuneRequest& request) {
  TW_TRY(const auto rows, db.sessions(model));
  EarlierSession found;
  for (const db::SessionRow& row : rows) {
    const records::StoredSession stored{row.id, row.tuner, row.target, dump_json(row.options)};
    if (race_of(row) != request.race || !api::is_same_search(stored, request)) continue;
    const auto then = tune::session_options(row.options);
    if (!then) continue;
    const bool same = then->trials == request.options.trials && then->trials_per_task == request.options.trials_per_task && then->time_s == request.options.time_s;
    found = {row.id, row.state == "done" && same};
  }
  return found;
}

}  // namespace tw::logs
