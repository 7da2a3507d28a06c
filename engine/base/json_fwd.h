// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

/// For headers that only name documents: the whole of nlohmann/json costs a compilation a second.
namespace tw {

/// JSON with keys in the order they were written, so that output is the same byte for byte.
using Json = nlohmann::ordered_json;

}  // namespace tw
