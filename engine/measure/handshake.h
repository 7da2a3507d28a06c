// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/frame.h"

namespace tw::measure {

/// Checks the first frame of a worker. Errors: version if it speaks another protocol, parse_error if it is not a worker.
Expected<void> check_hello(const Frame& frame, const std::string& role);

/// On the worker's side: whether the other end of its channel is open.
bool program_is_there();

}  // namespace tw::measure
