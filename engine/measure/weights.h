// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/records/measure_result.h"
#include "engine/target/target.h"

namespace tw::measure {

/// Where the constants of a network, of so many bytes in all, are when a kernel comes to its own: warm if all of them stay in the caches that its threads may
/// count on from one run to the next, else cold, as the other layers drive them out. Trials are timed in this state.
records::Weights weights_in_network(const Target& target, int64_t constant_bytes);

}  // namespace tw::measure
