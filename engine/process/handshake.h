// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/process/frame.h"

namespace tw::process {

/// The first frame that a child sends; its own facts may be added.
Json hello(const std::string& role, int protocol);
/// Checks the first frame of a child. Errors: version if it speaks another protocol, parse_error if it is something else.
Expected<void> check_hello(const Frame& frame, const std::string& role, int protocol);

/// On the child's side: whether the other end of its channel is open.
bool peer_is_there();

}  // namespace tw::process
