// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tw {

/// The SHA-256 of bytes, as 64 lower-case hexadecimal digits: the name of code that other machines fetch and check before they run it.
/// Source: FIPS 180-4, 2015.
std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace tw
