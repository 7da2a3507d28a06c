// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "app/cli/tuning.h"

namespace tw::cli {

struct RaceSession {
  SessionId session;
  bool cancelled = false;
};
/// Runs a session of the race that `request` names. One that is the same search goes on, and one that ended within the same limits is not run again. `title` is said before, on
/// standard error. Errors: as of tune_network; infrastructure where no trial gave a time.
Expected<RaceSession> run_race_session(TuneRequest request, const std::shared_ptr<db::Database>& db, const std::string& title);

}  // namespace tw::cli
