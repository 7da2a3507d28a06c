// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

namespace tw {

/// Asks long work to stop; polled at least every 10 ms of work.
using StopToken = std::stop_token;
using StopSource = std::stop_source;

}  // namespace tw
