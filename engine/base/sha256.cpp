// SPDX-License-Identifier: Apache-2.0
#include "engine/base/sha256.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace tw {

namespace {

constexpr size_t kBlockBytes = 64;

constexpr std::array<uint32_t, 64> first_primes() {
  std::array<uint32_t, 64> out{};
  size_t n = 0;
  for (uint32_t p = 2; n < out.size(); ++p) {
    bool prime = true;
    for (size_t i = 0; i < n; ++i) prime &= p % out[i] != 0;
    if (prime) out[n++] = p;
  }
  return out;
}
constexpr std::array<uint32_t, 64> kPrimes = first_primes();

/// The first 32 bits of the fraction of a root.
uint32_t fraction(long double root) { return static_cast<uint32_t>((root - std::floor(root)) * 4294967296.0L); }

struct Constants {
  std::array<uint32_t, 8> start{};
  std::array<uint32_t, 64> round{};
};
const Constants& sha_constants() {
  static const Constants table = [] {
    Constants c;
    for (size_t i = 0; i < c.start.size(); ++i) c.start[i] = fraction(std::sqrt(static_cast<long double>(kPrimes[i])));
    for (size_t i = 0; i < c.round.size(); ++i) c.round[i] = fraction(std::cbrt(static_cast<long double>(kPrimes[i])));
    return c;
  }();
  return table;
}

void add_sha_block(std::array<uint32_t, 8>& state, const unsigned char* block, const std::array<uint32_t, 64>& k) {
  std::array<uint32_t, 64> w;
  for (size_t i = 0; i < 16; ++i)
    w[i] = static_cast<uint32_t>(block[4 * i]) << 24 | static_cast<uint32_t>(block[4 * i + 1]) << 16 | static_cast<uint32_t>(block[4 * i + 2]) << 8 | block[4 * i + 3];
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i];
    const uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<uint32_t, 8> add{a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state[i] += add[i];
}

}  // namespace

std::string sha256_hex(std::span<const std::byte> bytes) {
  const Constants& constants = sha_constants();
  std::array<uint32_t, 8> state = constants.start;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t at = 0;
  for (; at + kBlockBytes <= bytes.size(); at += kBlockBytes) add_sha_block(state, data + at, constants.round);
  std::array<unsigned char, 2 * kBlockBytes> tail{};
  const size_t left = bytes.size() - at;
  if (left > 0) std::memcpy(tail.data(), data + at, left);
  tail[left] = 0x80;
  const size_t total = left + 9 <= kBlockBytes ? kBlockBytes : 2 * kBlockBytes;
  const uint64_t bits = static_cast<uint64_t>(bytes.size()) * 8;
  for (size_t i = 0; i < 8; ++i) tail[total - 1 - i] = static_cast<unsigned char>(bits >> (8 * i));
  for (size_t block = 0; block < total; block += kBlockBytes) add_sha_block(state, tail.data() + block, constants.round);
  std::string out;
  for (const uint32_t word : state) out += fmt::format("{:08x}", word);
  return out;
}

}  // namespace tw
