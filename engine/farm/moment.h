// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "engine/process/frame.h"

/// Points in time by the clock that only goes forward: no decision of a farm depends on another one.
namespace tw::farm {

using Clock = std::chrono::steady_clock;
inline double since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }
inline Clock::time_point from_now(double s) { return Clock::now() + process::in_seconds(s); }

}  // namespace tw::farm
