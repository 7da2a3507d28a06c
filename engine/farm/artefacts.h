// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/farm/names.h"
#include "engine/farm/nats_client.h"

namespace tw::farm {

/// Code travels in pieces under the SHA-256 of all of it. So many it has, at least one.
size_t pieces_of(size_t bytes);
/// Sends one of them; what is there already is kept. The server's answer comes to `inbox`, for stored_in(). Errors: those of NatsClient::publish.
Expected<void> begin_piece(NatsClient& client, const Names& names, const std::string& sha, std::span<const std::byte> bytes, size_t piece,
                           const std::string& inbox);

}  // namespace tw::farm
