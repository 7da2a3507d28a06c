// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/json.h"

namespace tw::process {

using Deadline = std::chrono::steady_clock::time_point;
/// To be added to a point in time.
inline Deadline::duration in_seconds(double s) { return std::chrono::duration_cast<Deadline::duration>(std::chrono::duration<double>(s)); }

/// One message between a program and its child: a JSON header and raw bytes.
/// On the wire: the word "TWF1", the header's length (uint32), the payload's length (uint64), both, little-endian.
struct Frame {
  Json header;
  std::vector<std::byte> payload;
};

std::vector<std::byte> encode_frame(const Json& header, std::span<const std::byte> payload);
/// The one frame that these bytes are. Errors: parse_error.
Expected<Frame> decode_frame(std::span<const std::byte> bytes);

/// Puts frames together from pieces as they arrive. What arrives is not trusted: lengths are limited, headers must parse.
class FrameReader {
 public:
  explicit FrameReader(uint64_t max_payload = uint64_t{4} << 30) : max_payload_(max_payload) {}

  /// Reads what `fd` (non-blocking) holds. False at the end of the stream. Errors: io_error.
  Expected<bool> fill(int fd);
  /// The next whole frame, or nothing yet. Errors: parse_error; the stream is of no use afterwards.
  Expected<std::optional<Frame>> next();

 private:
  uint64_t max_payload_;
  std::vector<std::byte> buffer_;
  size_t begin_ = 0;
};

/// Reads one frame from a blocking descriptor; nothing at the end of the stream. Errors: io_error, parse_error.
Expected<std::optional<Frame>> read_frame(int fd);
/// Writes all of a frame to a blocking descriptor (a socket or a pipe). Errors: io_error, such as a closed other end.
Expected<void> write_frame(int fd, const Json& header, std::span<const std::byte> payload = {});

}  // namespace tw::process
