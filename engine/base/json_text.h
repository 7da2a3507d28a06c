// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <vector>

/// JSON written part by part, as dump_json (json.h) writes it; no tree of values is built.
namespace tw {

void append_json(std::string& out, std::string_view text);
inline void append_json(std::string& out, const std::string& text) { append_json(out, std::string_view(text)); }
inline void append_json(std::string& out, const char* text) { append_json(out, std::string_view(text)); }

template <std::integral T>
void append_json(std::string& out, T number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof(digits), number).ptr);
}

template <class T>
void append_json(std::string& out, const std::vector<T>& list) {
  out += '[';
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ',';
    append_json(out, list[i]);
  }
  out += ']';
}

}  // namespace tw
