// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/base/expected.h"

/// Times as people type them, on the command line and in forms.
namespace tw {

/// `90`, `90s`, `30m`, `2h`, `1h30m`, `5ms` or `200us` in seconds; `0` too. Errors: invalid_argument.
Expected<double> parse_duration(const std::string& text);
/// In one unit, such as `30m`; parse_duration gives `seconds` back to the last digit. For 0 or more.
std::string duration_text(double seconds);

}  // namespace tw
