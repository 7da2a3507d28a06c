// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/farm/nats_client.h"
#include "engine/farm/names.h"

namespace tw::farm {

/// Puts bytes in, in pieces, under the SHA-256 that names them; what is there already is kept. Errors: resource_limit; those of publish_stored.
Expected<void> put_artefact(NatsClient& client, const Names& names, const std::string& sha, std::span<const std::byte> bytes);

}  // namespace tw::farm
