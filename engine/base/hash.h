// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tw {

/// 64-bit hash of bytes, equal over runs, machines and compilers (XXH3).
inline uint64_t stable_hash(std::string_view bytes, uint64_t seed = 0) { return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed); }

inline uint64_t hash_combine(uint64_t a, uint64_t b) { return a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2)); }

/// 128-bit content key as 32 lower-case hexadecimal digits (XXH3-128); the key of artifacts and tasks.
std::string content_key(std::string_view bytes);

/// The content key of bytes that come in pieces.
class ContentHasher {
 public:
  ContentHasher() { XXH3_128bits_reset(state_.get()); }
  void add(std::string_view bytes) { XXH3_128bits_update(state_.get(), bytes.data(), bytes.size()); }
  std::string key() const;
  /// The lower half of the key as a number.
  uint64_t value() const { return XXH3_128bits_digest(state_.get()).low64; }

 private:
  struct Free {
    void operator()(XXH3_state_t* s) const { XXH3_freeState(s); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_{XXH3_createState()};
};

}  // namespace tw
