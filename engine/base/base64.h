// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "engine/base/expected.h"

namespace tw {

/// Bytes as text of letters, digits, '-' and '_', without padding. Source: RFC 4648, section 5.
std::string to_base64url(std::string_view bytes);
/// Back from it, and from the form with '+', '/' and padding. Errors: parse_error for other characters and impossible lengths.
Expected<std::string> from_base64(std::string_view text);

}  // namespace tw
