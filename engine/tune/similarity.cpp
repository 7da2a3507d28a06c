// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/similarity.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/base/hash.h"

namespace tw::tune {

std::string similarity_tag(const te::Dag& dag, int64_t flops) {
  constexpr double kPhi = 1.618;
  std::string shape;
  // Digits that belong to a name, such as the 2 of conv2d, count; numbers do not.
  bool in_word = false, in_number = false;
  for (const char c : te::print(dag)) {
    const bool digit = c >= '0' && c <= '9', letter = std::isalpha(static_cast<unsigned char>(c)) || c == '_';
    if (letter) in_word = true;
    if (!letter && !digit) in_word = false;
    if (digit && !in_word) {
      if (!in_number) shape += '#';
      in_number = true;
      continue;
    }
    in_number = false;
    shape += c;
  }
  const auto size = static_cast<int>(std::floor(std::log(static_cast<double>(flops) + 1) / std::log(kPhi)));
  return fmt::format("{:016x}_{}", stable_hash(shape), size);
}

}  // namespace tw::tune
