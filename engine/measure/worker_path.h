// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/base/expected.h"

namespace tw::measure {

/// The worker program: `given`, or `tw-worker` beside the running program, in ../bin or in ../libexec/tilewright. Errors: not_found.
Expected<std::string> find_worker(const std::string& given);

}  // namespace tw::measure
