// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "engine/base/expected.h"
#include "engine/base/json_fwd.h"

namespace tw {

/// Parses one document; never throws. `where` names the source in the error. Nesting deeper than 64 is refused.
Expected<Json> parse_json(std::string_view text, const std::string& where = {});

/// One line, UTF-8; invalid UTF-8 is replaced, never thrown on.
inline std::string dump_json(const Json& j, int indent = -1) {
  return j.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tw
