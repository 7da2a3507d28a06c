// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tw::measure {

/// Serves as the worker that runs whole networks, until the channel closes: each job in a process of its own, as candidates; on a GPU, whose context does not
/// survive a fork, in this one, which the program replaces after it. `memory_bytes`: address space beyond the networks' own. Returns the exit code.
int network_role(int64_t memory_bytes);

}  // namespace tw::measure
