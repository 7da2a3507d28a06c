// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tw {

/// The MD5 of bytes, as 32 hexadecimal digits: what other programs name their tasks by. Not for anything that anybody might forge.
/// Source: Rivest, RFC 1321, 1992.
std::string md5_hex(std::string_view bytes);

}  // namespace tw
