// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw {

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> out;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) end = text.size();
    std::string_view line = text.substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    out.push_back(line);
    begin = end + 1;
  }
  return out;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string si_text(double value, std::string_view unit) {
  struct Prefix {
    double scale;
    const char* name;
  };
  static constexpr Prefix kPrefixes[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}};
  if (value == 0 || !std::isfinite(value)) return fmt::format("{} {}", value, unit);
  for (const Prefix& p : kPrefixes)
    if (std::abs(value) >= p.scale * 0.9995) {
      const double v = value / p.scale;
      const int decimals = std::abs(v) >= 100 ? 0 : std::abs(v) >= 10 ? 1 : 2;
      return fmt::format("{:.{}f} {}{}", v, decimals, p.name, unit);
    }
  return fmt::format("{:.3g} {}", value, unit);
}

namespace {

/// One character of UTF-8; `length` bytes. Bytes that are none: the byte, with `good` false.
struct Character {
  uint32_t code = 0;
  size_t length = 1;
  bool good = true;
};

Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {lead, 1, false};
  uint32_t code = lead & (0xff >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {lead, 1, false};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {lead, 1, false};
  return {code, length, true};
}

/// Whether a character moves the cursor, turns the direction of what follows, or cannot be seen. Source: Unicode 15, categories Cc, Cf, Zl and Zp.
bool is_hidden(uint32_t code) {
  constexpr std::pair<uint32_t, uint32_t> kHidden[] = {{0, 0x1f},         {0x7f, 0x9f},         {0xad, 0xad},     {0x61c, 0x61c},     {0x180e, 0x180e},    {0x200b, 0x200f},
                                                       {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
  return std::any_of(std::begin(kHidden), std::end(kHidden), [&](const auto& range) { return code >= range.first && code <= range.second; });
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character c = first_character(text);
    if (!c.good || c.code < 0x20 || c.code == 0x7f)
      out += fmt::format("\\x{:02x}", c.code);
    else if (is_hidden(c.code))
      out += fmt::format("\\u{{{:x}}}", c.code);
    else
      out += text.substr(0, c.length);
    text.remove_prefix(c.length);
  }
  return out;
}

}  // namespace tw
