// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/artefacts.h"

#include <algorithm>

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

}  // namespace tw::farm
