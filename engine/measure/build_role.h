// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tw::measure {

/// `tw-worker build`: compiles one candidate after the other for the task it was told last, answering on kChannelFd until the channel closes.
/// `memory_bytes` limits what it may map beyond its start. Returns the exit code.
int build_role(int64_t memory_bytes);

}  // namespace tw::measure
