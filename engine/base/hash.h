// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tw {

/// 64-bit hash of bytes, equal over runs, machines and compilers (XXH3).
inline uint64_t stable_hash(std::string_view bytes, uint64_t seed = 0) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

inline uint64_t hash_combine(uint64_t a, uint64_t b) {
  return a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2));
}

/// 128-bit content key as 32 lower-case hexadecimal digits (XXH3-128); the key of artifacts and tasks.
std::string content_key(std::string_view bytes);

}  // namespace tw
