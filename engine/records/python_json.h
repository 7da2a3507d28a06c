// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/base/json_fwd.h"

namespace tw::records {

/// JSON as Python's json.dumps writes it, which TVM's logs are: ", " and ": " between items, ASCII only, floats in repr form.
std::string python_json(const Json& value);

}  // namespace tw::records
