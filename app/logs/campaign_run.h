// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/logs/campaign_plan.h"
#include "db/database.h"
#include "engine/api/compile.h"
#include "engine/api/tune.h"
#include "engine/base/json_fwd.h"

namespace tw::logs {

/// Who is told how far a campaign is; all is called by the thread that runs it. Any may be empty but `host`.
struct CampaignHooks {
  /// Before each cell, by its place in the plan: whether there is nothing left to do in it.
  std::function<void(size_t cell, bool is_done)> cell = {};
  /// Its session begins or goes on, with so many trials there already. The tasks live as long as it.
  std::function<void(const std::vector<api::NetworkTask>& tasks, int64_t there)> begun = {};
  tune::EventSink events = {};
  std::function<Json(const Target& target)> host = {};  ///< what is stored of the machine
  decltype(api::TuneHooks::loop) loop = {};             ///< api::TuneHooks::loop
  measure::WorkerOptions workers = {};
  StopToken stop = {};
};

/// Runs what is not done of a campaign, a session for each cell; every trial is stored before its event is sent, and the same call goes on after a stop. Returns whether all of it is done.
/// Errors: those of reading the operators (api/import_apart.h), of the database and of api::tune; infrastructure where none of a session's trials gave a time.
Expected<bool> run_campaign(const CampaignPlan& plan, const std::shared_ptr<db::Database>& db, const CampaignHooks& hooks);

}  // namespace tw::logs
