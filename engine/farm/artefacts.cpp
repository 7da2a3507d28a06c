// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/artefacts.h"

#include <algorithm>

#include "engine/base/sha256.h"
#include "engine/base/text.h"
#include "engine/farm/jetstream.h"
#include "engine/farm/messages.h"

namespace tw::farm {

Expected<void> put_artefact(NatsClient& client, const Names& names, const std::string& sha, std::span<const std::byte> bytes) {
  if (bytes.size() > kMostArtefactBytes)
    return Error(ErrorCode::resource_limit, fmt::format("Expected code of at most {} bytes for a farm, found {}", kMostArtefactBytes, bytes.size()));
  for (size_t piece = 0, at = 0; at < bytes.size() || piece == 0; ++piece, at += kPieceBytes) {
    const auto part = bytes.subspan(at, std::min(kPieceBytes, bytes.size() - at));
    const std::string_view text(reinterpret_cast<const char*>(part.data()), part.size());
    TW_CHECK(publish_stored(client, names.artefact(sha, std::to_string(piece)), text, ""));
  }
  return {};
}

Expected<std::vector<std::byte>> ArtefactCache::get(NatsClient& client, const Names& names, const std::string& sha, int64_t bytes) {
  kept_.begin();
  if (const auto* known = kept_.find(sha)) return *known;
  std::vector<std::byte> out;
  for (int64_t piece = 0; static_cast<int64_t>(out.size()) < bytes || piece == 0; ++piece) {
    TW_TRY(const auto part, newest_message(client, names.artefacts_stream(), names.artefact(sha, std::to_string(piece))));
    if (!part || (part->empty() && bytes > 0)) return Error(ErrorCode::not_found, fmt::format("Expected the code {} at the farm's server, found it gone", sha));
    const auto* begin = reinterpret_cast<const std::byte*>(part->data());
    if (static_cast<int64_t>(out.size() + part->size()) > bytes) return Error(ErrorCode::corrupt, fmt::format("Expected {} bytes of the code {}, found more", bytes, sha));
    out.insert(out.end(), begin, begin + part->size());
  }
  if (sha256_hex(out) != sha) return Error(ErrorCode::corrupt, fmt::format("Expected the code {} at the farm's server, found other bytes", sha));
  return kept_.put(sha, std::move(out), bytes);
}

}  // namespace tw::farm
