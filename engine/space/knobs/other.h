// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json.h"
#include "engine/space/config_space.h"

namespace tw::space {

/// The given values, in order.
std::vector<KnobValue> enumerate_other(std::vector<Json> candidates);

/// Equality as Python sees it: true equals 1 and 1 equals 1.0, because AutoTVM's logs write booleans either way.
bool same_other(const Json& a, const Json& b);

/// Python's str() of a value: True, None, 0.5, text without quotes.
std::string python_text(const Json& value);

}  // namespace tw::space
