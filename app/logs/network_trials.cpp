// SPDX-License-Identifier: Apache-2.0
#include "app/logs/network_trials.h"

#include <limits>

namespace tw::logs {

Expected<std::vector<api::TriedTask>> tried_tasks(const std::vector<api::NetworkTask>& tasks, db::Database& db) {
  std::vector<api::TriedTask> out;
  for (const api::NetworkTask& task : tasks) {
    api::TriedTask t{task, std::numeric_limits<double>::infinity(), std::nullopt};
    TW_TRY(t.best, db.best(task.task.key, task.constants));
    TW_TRY(const auto row, db.task_by_key(task.task.key, task.constants));
    if (row) t.default_s = row->counts().default_s;
    out.push_back(std::move(t));
  }
  return out;
}

Expected<void> store_finals(ModelId model, const Target& target, std::optional<SessionId> session, const api::NetworkFinals& f, db::Database& db) {
  db::NetworkFinalRow row;
  row.model = model;
  row.session = session;
  row.target = target.str();
  row.default_s = f.default_s;
  row.tuned_s = f.tuned_s;
  row.ratio = f.network.ratio;
  row.low = f.network.low;
  row.high = f.network.high;
  row.default_estimate_s = f.default_estimate_s;
  row.tuned_estimate_s = f.tuned_estimate_s;
  std::vector<db::NetworkVerdictRow> verdicts;
  for (const api::KernelFinal& k : f.kernels) {
    if (!k.tried) continue;
    verdicts.push_back({*k.record, {k.standing == api::Standing::taken, k.in_place.ratio, k.in_place.low, k.in_place.high, k.default_s}, api::standing_name(k.standing)});
  }
  return db.put_network_final(row, verdicts);
}

}  // namespace tw::logs
