// SPDX-License-Identifier: Apache-2.0
#include "engine/base/base64.h"

#include <cstdint>

namespace tw {

namespace {

constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '-' || c == '+' ? 62 : c == '_' || c == '/' ? 63 : -1;
}

}  // namespace

std::string to_base64url(std::string_view bytes) {
  std::string out;
  uint32_t bits = 0;
  int held = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (held += 8; held >= 6; held -= 6) out += kDigits[bits >> (held - 6) & 63];
  }
  if (held > 0) out += kDigits[bits << (6 - held) & 63];
  return out;
}

Expected<std::string> from_base64(std::string_view text) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  if (text.size() % 4 == 1) return Error(ErrorCode::parse_error, "Expected bytes in base 64, found a text of impossible length");
  std::string out;
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int digit = base64_digit(c);
    if (digit < 0) return Error(ErrorCode::parse_error, "Expected bytes in base 64, found another character");
    bits = bits << 6 | static_cast<uint32_t>(digit);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>(bits >> held & 255);
    }
  }
  return out;
}

}  // namespace tw
