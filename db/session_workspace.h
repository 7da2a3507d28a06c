// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/database.h"
#include "engine/records/session_store.h"

namespace tw::db {

/// The sessions of a model in a workspace. `host`: the machine, for sessions that begin.
std::unique_ptr<records::SessionStore> session_store(std::shared_ptr<Database> db, ModelId model, Json host);

/// What a workspace holds of the tasks for a target, a session or none: trials with their samples, whoever measured them. Tasks without trials are left out.
Expected<std::vector<records::TaskRecords>> task_records(Database& db, const std::string& target);
/// The same of sessions whose times are of one kind.
Expected<std::vector<records::TaskRecords>> task_records(Database& db, const std::string& target, TimeKind kind);

/// The task of a row. Errors: of the parsers, if its texts are damaged.
Expected<records::Task> task_of(const TaskRow& row);
/// The same for readers of many rows: one that means nothing is noted among the damaged and left out.
std::optional<records::Task> readable_task(Database& db, const TaskRow& row);

}  // namespace tw::db
