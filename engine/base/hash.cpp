// SPDX-License-Identifier: Apache-2.0
#include "engine/base/hash.h"

#include <fmt/format.h>

namespace tw {

std::string content_key(std::string_view bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

}  // namespace tw
