// SPDX-License-Identifier: Apache-2.0
#include "engine/base/hash.h"

#include <fmt/format.h>

namespace tw {

namespace {

std::string text_of(const XXH128_hash_t& h) { return fmt::format("{:016x}{:016x}", h.high64, h.low64); }

}  // namespace

std::string content_key(std::string_view bytes) { return text_of(XXH3_128bits(bytes.data(), bytes.size())); }

std::string ContentHasher::key() const { return text_of(XXH3_128bits_digest(state_.get())); }

}  // namespace tw
