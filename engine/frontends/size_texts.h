// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/expected.h"

namespace tw::frontends {

/// A size as people and settings write it, `NAME=NUMBER`: what ImportOptions::dims takes. The name may have `=` in it.
/// Errors: invalid_argument for anything else, and for numbers below 0.
Expected<std::pair<std::string, int64_t>> size_from_text(const std::string& text);
/// Several; of a name that stands twice the last one counts.
Expected<std::map<std::string, int64_t>> sizes_from_texts(const std::vector<std::string>& texts);

}  // namespace tw::frontends
