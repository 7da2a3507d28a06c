// SPDX-License-Identifier: Apache-2.0
#include "db/recorded.h"

#include <algorithm>
#include <set>

#include "engine/base/json.h"

namespace tw::db {

Expected<std::shared_ptr<records::RecordedTrials>> recorded_trials(Database& db, const std::vector<std::string>& task_keys) {
  std::set<SessionId> replays;
  TW_TRY(const auto sessions, db.sessions());
  for (const SessionRow& s : sessions)
    if (s.kind == TimeKind::replayed) replays.insert(s.id);
  auto trials = std::make_shared<records::RecordedTrials>();
  TW_TRY(const auto tasks, db.tasks());
  for (const TaskRow& task : tasks) {
    if (std::find(task_keys.begin(), task_keys.end(), task.key) == task_keys.end()) continue;
    TW_TRY(auto rows, db.trials(std::nullopt, task.id, {}, -1, true));
    for (TrialRow& row : rows)
      if (!replays.contains(row.session)) trials->add(std::move(row.record));
  }
  return trials;
}

}  // namespace tw::db
