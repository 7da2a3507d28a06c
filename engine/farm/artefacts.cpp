// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/artefacts.h"

#include <algorithm>

#include "engine/farm/jetstream.h"
#include "engine/farm/messages.h"

namespace tw::farm {

size_t pieces_of(size_t bytes) { return std::max<size_t>(1, (bytes + kPieceBytes - 1) / kPieceBytes); }

Expected<void> begin_piece(NatsClient& client, const Names& names, const std::string& sha, std::span<const std::byte> bytes, size_t piece,
                           const std::string& inbox) {
  const size_t at = std::min(piece * kPieceBytes, bytes.size());
  const auto part = bytes.subspan(at, std::min(kPieceBytes, bytes.size() - at));
  return begin_publishing(client, names.artefact(sha, std::to_string(piece)), {reinterpret_cast<const char*>(part.data()), part.size()}, "", inbox);
}

}  // namespace tw::farm
