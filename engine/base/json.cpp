// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json.h"

namespace tw {

Expected<Json> parse_json(std::string_view text, const std::string& where) {
  constexpr int kMaxDepth = 64;
  // Depth is checked on the text, because the parser itself is recursive in the destructor of what it built.
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      else if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth)
        return Error(ErrorCode::parse_error, "Expected JSON nested at most 64 deep, found deeper nesting at byte " + std::to_string(i), where);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    return Error(ErrorCode::parse_error, "Expected a JSON document, found an error at byte " + std::to_string(e.byte), where);
  } catch (const nlohmann::json::exception&) {
    return Error(ErrorCode::parse_error, "Expected a JSON document, found a value outside the format's limits", where);
  }
}

}  // namespace tw
