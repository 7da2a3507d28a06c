// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tw::api {

/// `tw-worker import`: answers one question of import_network_apart or open_sizes_apart on kChannelFd and ends. `memory_bytes` beyond what the program itself takes; what a model
/// keeps in further files widens it, unless the question says otherwise. Returns the exit code.
int import_role(int64_t memory_bytes);

}  // namespace tw::api
