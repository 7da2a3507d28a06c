// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/executable.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>

#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/runtime/executable_json.h"

namespace tw::runtime {

namespace {

// File: Header, then `sections` times {uint64 raw bytes, uint64 compressed bytes, data}: the description as JSON, the object, the constants.
// All numbers are little-endian.
constexpr char kMagic[8] = {'T', 'W', 'X', '\r', '\n', '\x1a', '\n', '\0'};
constexpr uint32_t kVersion = 1;
constexpr int kCompressionLevel = 3;
constexpr uint64_t kMaxRawBytes = uint64_t{16} << 30;  ///< of one section

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t sections;
  uint64_t payload_bytes;
  uint64_t checksum;  ///< XXH3 of the payload, seeded with the fields between
};
static_assert(sizeof(Header) == 32);

uint64_t checksum(const Header& h, std::string_view payload) {
  const uint64_t seed = hash_combine((uint64_t{h.version} << 32) | h.sections, h.payload_bytes);
  return stable_hash(payload, seed);
}

struct File {
  int fd = -1;
  ~File() {
    if (fd >= 0) ::close(fd);
  }
};

void append_section(std::string& payload, const void* data, size_t bytes) {
  std::string packed(ZSTD_compressBound(bytes), '\0');
  const size_t n = ZSTD_compress(packed.data(), packed.size(), data, bytes, kCompressionLevel);
  TW_ASSERT(!ZSTD_isError(n), ZSTD_getErrorName(n));
  const uint64_t sizes[2] = {bytes, n};
  payload.append(reinterpret_cast<const char*>(sizes), sizeof sizes);
  payload.append(packed.data(), n);
}

Expected<std::string> read_all(const std::string& path) {
  File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return system_error("Opening", path);
  struct stat info {};
  if (::fstat(file.fd, &info) != 0) return system_error("Reading", path);
  if (!S_ISREG(info.st_mode)) return Error(ErrorCode::invalid_argument, "Expected a file, found something else", path);
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t n = ::read(file.fd, bytes.data() + have, bytes.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error("Reading", path);
    if (n == 0) break;
    have += static_cast<size_t>(n);
  }
  bytes.resize(have);
  return bytes;
}

Expected<std::string_view> checked_payload(const std::string& bytes, const std::string& path, uint32_t& sections) {
  Header header;
  if (bytes.size() < sizeof header || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) {
    return Error(ErrorCode::parse_error, "Expected a Tilewright executable (.twx), found another kind of file or one cut short", path);
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != kVersion) {
    return Error(ErrorCode::version, fmt::format("Expected version {} of the executable format, found {}", kVersion, header.version), path);
  }
  const std::string_view payload = std::string_view(bytes).substr(sizeof header);
  if (payload.size() != header.payload_bytes) {
    return Error(ErrorCode::corrupt, fmt::format("Expected {} bytes of content, found {}", header.payload_bytes, payload.size()), path);
  }
  if (checksum(header, payload) != header.checksum) return Error(ErrorCode::corrupt, "The content does not match its checksum", path);
  sections = header.sections;
  return payload;
}

Expected<Bytes> take_section(std::string_view& payload, const std::string& path) {
  uint64_t sizes[2];
  if (payload.size() < sizeof sizes) return Error(ErrorCode::corrupt, "A section of the file is cut short", path);
  std::memcpy(sizes, payload.data(), sizeof sizes);
  payload.remove_prefix(sizeof sizes);
  if (sizes[1] > payload.size() || sizes[0] > kMaxRawBytes) return Error(ErrorCode::corrupt, "A section of the file has an impossible size", path);
  Bytes raw;
  try {
    raw.resize(sizes[0]);
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::out_of_memory, fmt::format("No memory for a section of {} bytes", sizes[0]), path);
  }
  const size_t n = ZSTD_decompress(raw.data(), raw.size(), payload.data(), sizes[1]);
  if (ZSTD_isError(n) || n != sizes[0]) return Error(ErrorCode::corrupt, "A section of the file cannot be decompressed", path);
  payload.remove_prefix(sizes[1]);
  return raw;
}

}  // namespace

Expected<void> save(const Executable& e, const std::string& path) {
  TW_CHECK(check_executable(e));
  std::string payload;
  Blobs blobs;
  const std::string description = dump_json(executable_to_json(e, blobs));
  append_section(payload, description.data(), description.size());
  append_section(payload, e.artifact.object.data(), e.artifact.object.size());
  for (const Bytes* data : blobs.list()) append_section(payload, data->data(), data->size());

  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.sections = static_cast<uint32_t>(2 + blobs.list().size());
  header.payload_bytes = payload.size();
  header.checksum = checksum(header, payload);
  const std::string_view parts[] = {{reinterpret_cast<const char*>(&header), sizeof header}, payload};
  return write_file(path, parts);
}

Expected<Executable> load_executable(const std::string& path) {
  TW_TRY(const std::string bytes, read_all(path));
  uint32_t sections = 0;
  TW_TRY(std::string_view payload, checked_payload(bytes, path, sections));
  if (sections < 2) return Error(ErrorCode::corrupt, fmt::format("Expected at least 2 sections, found {}", sections), path);
  TW_TRY(const Bytes description, take_section(payload, path));
  TW_TRY(Bytes object, take_section(payload, path));
  std::vector<std::shared_ptr<const Bytes>> blobs;
  for (uint32_t i = 2; i < sections; ++i) {
    TW_TRY(Bytes data, take_section(payload, path));
    blobs.push_back(std::make_shared<const Bytes>(std::move(data)));
  }
  if (!payload.empty()) return Error(ErrorCode::corrupt, fmt::format("Found {} bytes after the last section", payload.size()), path);
  TW_TRY(const Json json, parse_json({reinterpret_cast<const char*>(description.data()), description.size()}, path));
  auto e = executable_from_json(json, blobs);
  if (!e) {
    Error error = e.error();
    if (error.where.empty()) error.where = path;
    return error;
  }
  e->artifact.object = std::move(object);
  return e;
}

}  // namespace tw::runtime
