// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/base/expected.h"

namespace tw::process {

/// This program's own file. Errors: not_found where /proc does not say.
Expected<std::string> own_path();

/// A program that belongs to this one: `given` if that is not empty, or `name` beside the running program, in ../bin or in ../libexec/tilewright.
/// `purpose` completes the message, as in `which compiles and runs candidates`. Errors: not_found.
Expected<std::string> find_program(const std::string& name, const std::string& purpose, const std::string& given = {});

}  // namespace tw::process
