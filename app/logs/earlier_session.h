// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/database.h"
#include "engine/api/tune.h"

namespace tw::logs {

/// A session of a race or a campaign that is the same search as a request: to go on with, or done within the same limits. None: it was not begun.
struct EarlierSession {
  SessionId session;
  bool done = false;
};
/// The newest of the model. Errors: those of the database.
Expected<EarlierSession> earlier_session(db::Database& db, ModelId model, const api::TuneRequest& request);

}  // namespace tw::logs
