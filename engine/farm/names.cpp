// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/names.h"

#include <sys/random.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "engine/base/text.h"

namespace tw::farm {

namespace {

constexpr size_t kMostName = 48;

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 128; }

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMostName && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || c == '-' || c == '_'; });
}

Expected<void> check_name(std::string_view text, const char* what) {
  if (is_name(text)) return {};
  return Error(ErrorCode::invalid_argument,
               fmt::format("Expected {} of 1 to {} letters, digits, '-' and '_', beginning with a letter or digit, found '{}'", what, kMostName,
                           printable(text.substr(0, 80))));
}

std::string name_from(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMostName)) out += is_letter(c) || (!out.empty() && (c == '-' || c == '_')) ? c : '-';
  out.erase(0, std::min(out.find_first_not_of('-'), out.size()));
  return out.empty() ? "device" : out;
}

std::string random_hex(size_t bytes) {
  std::vector<unsigned char> raw(bytes);
  TW_ASSERT(::getrandom(raw.data(), raw.size(), 0) == static_cast<ssize_t>(bytes), "the system's random numbers");
  std::string out;
  for (const unsigned char b : raw) out += fmt::format("{:02x}", b);
  return out;
}

std::string priority_queue(int priority) { return fmt::format("p{}", priority); }
std::string device_queue(const std::string& device) { return "d-" + device; }

}  // namespace tw::farm
