// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tw::measure {

/// `tw-worker measure`: a small process that answers on kChannelFd until the channel closes. It never runs a candidate itself: it forks a process for
/// each, watches the clock from outside, and reports how it ended. Returns the exit code.
int measure_role();

}  // namespace tw::measure
