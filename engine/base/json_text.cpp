// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json_text.h"

#include <algorithm>

#include "engine/base/json.h"

namespace tw {

void append_json(std::string& out, std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; });
  if (!plain) {
    out += dump_json(Json(text));
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

}  // namespace tw
