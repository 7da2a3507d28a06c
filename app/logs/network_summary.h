// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/api/compile.h"
#include "engine/base/json_fwd.h"

namespace tw::logs {

/// Operators with counts, parameters, FLOPs, inputs and outputs: the same document in `tw import --json` and in a workspace.
Json network_summary(const api::Network& network);

}  // namespace tw::logs
