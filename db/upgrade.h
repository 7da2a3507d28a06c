// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/base/stop_token.h"

namespace tw::db {

/// Bringing a file of an earlier format up to date, which takes seconds where it holds many trials.
struct Upgrade {
  /// Told between the steps: a copy of the file, one for each format in between. `from` and `to` are formats.
  std::function<void(int from, int to, int done, int steps)> progress;
  StopToken stop = {};  ///< asked all the time; the file then stays as it was
};

}  // namespace tw::db
