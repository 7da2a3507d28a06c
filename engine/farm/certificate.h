// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/base/expected.h"

namespace tw::farm {

/// The certificate of a farm's server and its key, in one file that its user alone can read; made if there is none. It is signed by itself and never ends: who
/// connects knows it by its fingerprint. Returns the fingerprint, the SHA-256 of the certificate as 64 lower-case hexadecimal digits. Errors: parse_error for a
/// file without a certificate; infrastructure; those of the file.
Expected<std::string> ensure_certificate(const std::string& path, const std::string& farm);

}  // namespace tw::farm
