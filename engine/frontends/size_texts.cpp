// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/size_texts.h"

#include <fmt/format.h>

#include <charconv>

#include "engine/base/text.h"

namespace tw::frontends {

Expected<std::pair<std::string, int64_t>> size_from_text(const std::string& text) {
  const size_t at = text.rfind('=');
  int64_t value = -1;
  const char* end = text.data() + text.size();
  if (at == std::string::npos || at == 0 || std::from_chars(text.data() + at + 1, end, value).ptr != end || value < 0)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected a size as NAME=NUMBER, with a number of at least 0, found '{}'", printable(text.substr(0, 256))));
  return std::pair(text.substr(0, at), value);
}

Expected<std::map<std::string, int64_t>> sizes_from_texts(const std::vector<std::string>& texts) {
  std::map<std::string, int64_t> sizes;
  for (const std::string& text : texts) {
    TW_TRY(auto size, size_from_text(text));
    sizes[size.first] = size.second;
  }
  return sizes;
}

}  // namespace tw::frontends
