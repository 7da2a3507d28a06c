// SPDX-License-Identifier: Apache-2.0
#include "engine/process/frame.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::process {

namespace {

constexpr char kMagic[4] = {'T', 'W', 'F', '1'};
constexpr uint32_t kMaxHeader = uint32_t{64} << 20;
constexpr size_t kReadSize = size_t{256} << 10;

struct Prefix {
  char magic[4];
  uint32_t header_bytes;
  uint64_t payload_bytes;
};
static_assert(sizeof(Prefix) == 16);

Expected<Prefix> parse_prefix(const std::byte* bytes, uint64_t max_payload) {
  Prefix prefix;
  std::memcpy(&prefix, bytes, sizeof prefix);
  if (std::memcmp(prefix.magic, kMagic, sizeof kMagic) != 0) return Error(ErrorCode::parse_error, "Expected a frame of the worker protocol, found other bytes");
  if (prefix.header_bytes > kMaxHeader) return Error(ErrorCode::parse_error, fmt::format("A frame claims a header of {} bytes", prefix.header_bytes));
  if (prefix.payload_bytes > max_payload) {
    return Error(ErrorCode::parse_error, fmt::format("A frame claims {} bytes of payload, at most {} are expected", prefix.payload_bytes, max_payload));
  }
  return prefix;
}

Expected<Frame> parse_body(const Prefix& prefix, const std::byte* header, const std::byte* payload) {
  TW_TRY(Json json, parse_json({reinterpret_cast<const char*>(header), prefix.header_bytes}, "frame header"));
  if (!json.is_object()) return Error(ErrorCode::parse_error, "Expected an object as frame header");
  return Frame{std::move(json), {payload, payload + prefix.payload_bytes}};
}

Error io_error(const char* doing) { return Error(ErrorCode::io_error, fmt::format("{} the worker channel failed: {}", doing, std::strerror(errno))); }

/// False if the stream ended before the first byte.
Expected<bool> read_exactly(int fd, std::byte* out, size_t bytes) {
  size_t have = 0;
  while (have < bytes) {
    const ssize_t n = ::read(fd, out + have, bytes - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error("Reading");
    if (n == 0 && have == 0) return false;
    if (n == 0) return Error(ErrorCode::parse_error, "The worker channel ended inside a frame");
    have += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

std::vector<std::byte> encode_frame(const Json& header, std::span<const std::byte> payload) {
  const std::string text = dump_json(header);
  Prefix prefix{{}, static_cast<uint32_t>(text.size()), payload.size()};
  std::memcpy(prefix.magic, kMagic, sizeof kMagic);
  std::vector<std::byte> out(sizeof prefix + text.size() + payload.size());
  std::memcpy(out.data(), &prefix, sizeof prefix);
  std::memcpy(out.data() + sizeof prefix, text.data(), text.size());
  if (!payload.empty()) std::memcpy(out.data() + sizeof prefix + text.size(), payload.data(), payload.size());
  return out;
}

Expected<Frame> decode_frame(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(Prefix)) return Error(ErrorCode::parse_error, "Expected a frame, found fewer bytes than one begins with");
  TW_TRY(const Prefix prefix, parse_prefix(bytes.data(), bytes.size()));
  if (bytes.size() - sizeof prefix != prefix.header_bytes + prefix.payload_bytes)
    return Error(ErrorCode::parse_error, "Expected one whole frame, found more or less than it claims");
  const std::byte* header = bytes.data() + sizeof prefix;
  return parse_body(prefix, header, header + prefix.header_bytes);
}

Expected<bool> FrameReader::fill(int fd) {
  for (;;) {
    if (begin_ > 0 && begin_ == buffer_.size()) {
      buffer_.clear();
      begin_ = 0;
    }
    const size_t used = buffer_.size();
    buffer_.resize(used + kReadSize);
    const ssize_t n = ::read(fd, buffer_.data() + used, kReadSize);
    buffer_.resize(used + (n > 0 ? static_cast<size_t>(n) : 0));
    if (n > 0) {
      if (static_cast<size_t>(n) < kReadSize) return true;
      continue;
    }
    if (n == 0 || errno == ECONNRESET) return false;
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
    return io_error("Reading");
  }
}

Expected<std::optional<Frame>> FrameReader::next() {
  if (buffer_.size() - begin_ < sizeof(Prefix)) return std::optional<Frame>();
  TW_TRY(const Prefix prefix, parse_prefix(buffer_.data() + begin_, max_payload_));
  const size_t total = sizeof prefix + prefix.header_bytes + prefix.payload_bytes;
  if (buffer_.size() - begin_ < total) return std::optional<Frame>();
  const std::byte* header = buffer_.data() + begin_ + sizeof prefix;
  TW_TRY(Frame frame, parse_body(prefix, header, header + prefix.header_bytes));
  begin_ += total;
  return std::optional<Frame>(std::move(frame));
}

Expected<std::optional<Frame>> read_frame(int fd) {
  std::byte raw[sizeof(Prefix)];
  TW_TRY(const bool more, read_exactly(fd, raw, sizeof raw));
  if (!more) return std::optional<Frame>();
  TW_TRY(const Prefix prefix, parse_prefix(raw, uint64_t{4} << 30));
  std::vector<std::byte> body(prefix.header_bytes + prefix.payload_bytes);
  TW_TRY(const bool whole, read_exactly(fd, body.data(), body.size()));
  if (!whole && !body.empty()) return Error(ErrorCode::parse_error, "The worker channel ended inside a frame");
  TW_TRY(Frame frame, parse_body(prefix, body.data(), body.data() + prefix.header_bytes));
  return std::optional<Frame>(std::move(frame));
}

Expected<void> write_frame(int fd, const Json& header, std::span<const std::byte> payload) {
  const std::vector<std::byte> bytes = encode_frame(header, payload);
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t n = ::send(fd, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (n < 0 && errno == ENOTSOCK) n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error("Writing");
    done += static_cast<size_t>(n);
  }
  return {};
}

}  // namespace tw::process
