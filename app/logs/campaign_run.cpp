// SPDX-License-Identifier: Apache-2.0
#include "app/logs/campaign_run.h"

#include <fmt/format.h>

#include "app/logs/campaign.h"
#include "app/logs/earlier_session.h"
#include "app/logs/network_summary.h"
#include "app/logs/recorded_space.h"
#include "db/session_workspace.h"
#include "engine/api/import_apart.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/process/temporary_folder.h"

namespace tw::logs {
namespace {

/// Whether the cell is done.
Expected<bool> run_cell(const CampaignPlan& plan, size_t place, const std::string& folder, const std::shared_ptr<db::Database>& db, const CampaignHooks& hooks) {
  const CampaignPlan::Cell& cell = plan.cells[place];
  const std::string name = cell.name + ".te", path = folder + "/" + name;
  TW_CHECK(write_file(path, kAnyOutput, cell.text));
  TW_TRY(const api::Network network, api::import_network_apart(path, cell.target, {}, {}, hooks.stop));
  const std::vector<api::NetworkTask> tasks = api::network_tasks(network, cell.target);
  TW_TRY(const ModelId model, db->put_model(network.imported.name, name, network.content_key, network_summary(network)));
  for (const api::NetworkTask& t : tasks) {
    TW_TRY(const TaskId id, db->put_task(t.task));
    TW_CHECK(db->link_task(model, id, t.weight, t.constants));
  }
  api::TuneRequest request{.tasks = {}, .filters = {}, .target = cell.target, .options = plan.options, .device = cell.device, .workers = hooks.workers, .session = {}, .race = campaign_race(plan.name), .replay = {}};
  request.options.weights = api::weights_of(network, cell.target);
  for (const api::NetworkTask& t : tasks) request.tasks.push_back({t.task, t.weight, {}});
  TW_TRY(const EarlierSession earlier, earlier_session(*db, model, request));
  if (hooks.cell) hooks.cell(place, earlier.done);
  if (earlier.done) return true;
  request.resume = static_cast<bool>(earlier.session), request.session = earlier.session;
  if (cell.device.starts_with(records::kRecordedDevice)) {
    std::vector<records::Task> replayed;
    for (const api::NetworkTask& t : tasks) replayed.push_back(t.task);
    TW_TRY(request.replay, trials_in_file(*db, cell.device.substr(records::kRecordedDevice.size()), replayed, hooks.stop));
  }
  const auto store = db::session_store(db, model, hooks.host(cell.target));
  api::TuneHooks session{.events = hooks.events, .stop = hooks.stop, .loop = hooks.loop};
  session.begun = [&](SessionId, const std::vector<int64_t>& trials) {
    int64_t there = 0;
    for (const int64_t n : trials) there += n;
    if (hooks.begun) hooks.begun(tasks, there);
  };
  TW_TRY(const api::TuneOutcome outcome, api::tune(std::move(request), *store, session));
  if (outcome.report.cancelled) return false;
  if (!outcome.report.anything_measured()) return Error(ErrorCode::infrastructure, fmt::format("Expected a time of {}, found none: every trial of its session {} failed", cell.title(), outcome.session.value));
  return true;
}

}  // namespace

Expected<bool> run_campaign(const CampaignPlan& plan, const std::shared_ptr<db::Database>& db, const CampaignHooks& hooks) {
  TW_TRY(const auto folder, process::TemporaryFolder::create());
  for (size_t c = 0; c < plan.cells.size(); ++c) {
    TW_TRY(const bool done, run_cell(plan, c, folder.path(), db, hooks));
    if (!done) return false;
  }
  return true;
}

}  // namespace tw::logs
