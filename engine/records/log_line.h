// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::records {

/// What readers of other tools' logs say of a line.
inline Error bad_line(std::string message) { return Error(ErrorCode::parse_error, std::move(message)); }

/// The part of a line that a message quotes.
inline std::string shown(const Json& json) {
  std::string text = printable(dump_json(json));
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

}  // namespace tw::records
