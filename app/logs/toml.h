// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "engine/base/expected.h"
#include "engine/base/json.h"

namespace tw::logs {

/// A TOML document as JSON: tables as objects; dates and times as texts. `where` names it in errors. Errors: parse_error with line and column.
Expected<Json> parse_toml(std::string_view text, const std::string& where);

}  // namespace tw::logs
