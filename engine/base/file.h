// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/base/expected.h"

namespace tw {

/// The system's last error (errno) as one of ours: no_space, not_found or io_error, with its sentence.
Error system_error(const std::string& doing, const std::string& path);

/// Replaces the file `path` by the parts in order: written beside it, synced, renamed, folder synced. A reader sees the old file or the whole new one.
/// Something that exists and is no regular file (a pipe, a terminal, a device) is written to directly, never replaced.
Expected<void> write_file(const std::string& path, std::span<const std::string_view> parts);
inline Expected<void> write_file(const std::string& path, std::string_view bytes) { return write_file(path, std::span(&bytes, 1)); }

}  // namespace tw
