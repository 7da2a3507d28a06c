// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "db/database.h"
#include "engine/records/recorded_trials.h"

namespace tw::db {

/// The trials of a workspace as what a device replays (measure/recorded_device.h): all of the tasks with these keys, later ones in place of earlier ones of a
/// point; without those of sessions that were replays themselves. Errors: those of reading.
Expected<std::shared_ptr<records::RecordedTrials>> recorded_trials(Database& db, const std::vector<std::string>& task_keys);

}  // namespace tw::db
