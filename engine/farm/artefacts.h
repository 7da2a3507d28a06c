// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/base/bounded_cache.h"
#include "engine/farm/nats_client.h"
#include "engine/farm/names.h"

namespace tw::farm {

/// Puts bytes in, in pieces, under the SHA-256 that names them; what is there already is kept. Errors: resource_limit; those of publish_stored.
Expected<void> put_artefact(NatsClient& client, const Names& names, const std::string& sha, std::span<const std::byte> bytes);

/// Fetches artefacts and keeps the last ones, 64 MiB of them.
class ArtefactCache {
 public:
  /// Errors: not_found if a piece is not there any more; corrupt if the bytes are others than their name says; those of the connection.
  Expected<std::vector<std::byte>> get(NatsClient& client, const Names& names, const std::string& sha, int64_t bytes);

 private:
  BoundedCache<std::vector<std::byte>> kept_{int64_t{64} << 20};
};

}  // namespace tw::farm
