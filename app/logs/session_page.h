// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "db/database.h"
#include "engine/base/stop_token.h"

namespace tw::logs {

/// A session as one web page that needs no other file: what ran where and how, per task the curve, times and failures, notes. `tw report` and the window write it.
/// Not for the GUI thread. Errors: not_found, cancelled, what the database says.
Expected<std::string> session_page(db::Database& database, SessionId session, StopToken stop);

/// One trial with what is known of it: its time beside the default's, its samples, choices, steps and the code made of them, compiled anew; nothing runs.
/// Errors: not_found, what the database says. What cannot be compiled is said in the page.
Expected<std::string> trial_page(db::Database& database, SessionId session, TaskId task, int64_t number);

}  // namespace tw::logs
