// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/database.h"
#include "engine/api/network_finals.h"

namespace tw::logs {

/// The tasks of a network with what a workspace says of them: the time of the default schedule, and the best record. Errors: those of reading.
Expected<std::vector<api::TriedTask>> tried_tasks(const std::vector<api::NetworkTask>& tasks, db::Database& db);

/// Keeps what became of the trials inside the network, so that compiling takes only what holds. `session`: after which they ran. Errors: those of writing.
Expected<void> store_finals(ModelId model, const Target& target, std::optional<SessionId> session, const api::NetworkFinals& finals, db::Database& db);

}  // namespace tw::logs
