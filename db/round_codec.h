// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include "engine/base/ids.h"
#include "engine/records/round.h"

namespace tw::db {

/// Stores a round within the caller's transaction; it replaces the one of its number.
void put_round(SQLite::Database& c, SessionId session, TaskId task, const records::Round& round);

}  // namespace tw::db
