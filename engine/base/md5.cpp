// SPDX-License-Identifier: Apache-2.0
#include "engine/base/md5.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace tw {

namespace {

using State = std::array<uint32_t, 4>;

/// floor(2^32 |sin(i + 1)|)
const std::array<uint32_t, 64>& sines() {
  static const auto table = [] {
    std::array<uint32_t, 64> out{};
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint32_t>(std::floor(std::abs(std::sin(static_cast<double>(i + 1))) * 4294967296.0));
    return out;
  }();
  return table;
}

constexpr int kShifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

void add_block(State& s, const unsigned char* block) {
  std::array<uint32_t, 16> word{};
  for (size_t i = 0; i < 64; ++i) word[i / 4] |= static_cast<uint32_t>(block[i]) << (8 * (i % 4));
  uint32_t a = s[0], b = s[1], c = s[2], d = s[3];
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t round = i / 16;
    const uint32_t f = round == 0 ? (b & c) | (~b & d) : round == 1 ? (d & b) | (~d & c) : round == 2 ? b ^ c ^ d : c ^ (b | ~d);
    const uint32_t k = round == 0 ? i : round == 1 ? 5 * i + 1 : round == 2 ? 3 * i + 5 : 7 * i;
    const uint32_t turned = std::rotl(a + f + sines()[i] + word[k % 16], kShifts[round][i % 4]);
    a = d, d = c, c = b, b += turned;
  }
  s[0] += a, s[1] += b, s[2] += c, s[3] += d;
}

}  // namespace

std::string md5_hex(std::string_view bytes) {
  State state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::string padded(bytes);
  padded += static_cast<char>(0x80);
  while (padded.size() % 64 != 56) padded += '\0';
  const uint64_t bits = static_cast<uint64_t>(bytes.size()) * 8;
  for (int i = 0; i < 8; ++i) padded += static_cast<char>(bits >> (8 * i));
  for (size_t at = 0; at < padded.size(); at += 64) add_block(state, reinterpret_cast<const unsigned char*>(padded.data()) + at);
  std::string out;
  for (const uint32_t word : state)
    for (int i = 0; i < 4; ++i) out += fmt::format("{:02x}", word >> (8 * i) & 0xff);
  return out;
}

}  // namespace tw
