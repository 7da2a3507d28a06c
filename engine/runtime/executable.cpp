// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/executable.h"

#include <zstd.h>

#include <cstring>
#include <filesystem>
#include <new>

#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/runtime/executable_json.h"

namespace tw::runtime {

namespace {

// File: Header, then `sections` times {uint64 raw bytes, one zstd frame}: the description as JSON, the object, the constants; then Trailer.
// All numbers are little-endian. What is known only at the end stands there, so that a file of any size is written section by section.
constexpr char kMagic[8] = {'T', 'W', 'X', '\r', '\n', '\x1a', '\n', '\0'};
constexpr uint32_t kVersion = 3, kOldestVersion = 2;  // 2: without code for GPUs
constexpr int kCompressionLevel = 3;
constexpr uint64_t kMaxRawBytes = uint64_t{16} << 30;  ///< of one section

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t sections;
};
struct Trailer {
  uint64_t payload_bytes;
  uint64_t checksum;  ///< XXH3 of everything before the trailer
};
static_assert(sizeof(Header) == 16 && sizeof(Trailer) == 16);

template <class T>
std::string_view bytes_of(const T& v) {
  return {reinterpret_cast<const char*>(&v), sizeof v};
}

/// A file that hashes and counts what goes into it.
struct SectionWriter {
  FileWriter& file;
  ContentHasher hasher = {};
  uint64_t payload_bytes = 0;

  Expected<void> write(std::string_view bytes) {
    hasher.add(bytes);
    payload_bytes += bytes.size();
    return file.write(bytes);
  }
  /// Compresses piece by piece: a section may be as large as the memory that is left.
  Expected<void> write_section(const void* data, size_t bytes) {
    const uint64_t raw = bytes;
    TW_CHECK(write(bytes_of(raw)));
    const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kCompressionLevel);
    ZSTD_CCtx_setPledgedSrcSize(context.get(), bytes);
    std::string piece(ZSTD_CStreamOutSize(), '\0');
    ZSTD_inBuffer in{data, bytes, 0};
    for (size_t left = 1; left != 0;) {
      ZSTD_outBuffer out{piece.data(), piece.size(), 0};
      left = ZSTD_compressStream2(context.get(), &out, &in, ZSTD_e_end);
      TW_ASSERT(!ZSTD_isError(left), ZSTD_getErrorName(left));
      TW_CHECK(write(std::string_view(piece).substr(0, out.pos)));
    }
    return {};
  }
};

Expected<std::string_view> checked_payload(const std::string& bytes, const std::string& path, uint32_t& sections) {
  Header header;
  if (bytes.size() < sizeof header || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) {
    return Error(ErrorCode::parse_error, "Expected a Tilewright executable (.twx), found another kind of file or one cut short", path);
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version < kOldestVersion || header.version > kVersion) {
    return Error(ErrorCode::version, fmt::format("Expected version {} to {} of the executable format, found {}", kOldestVersion, kVersion, header.version),
                 path);
  }
  Trailer trailer;
  if (bytes.size() < sizeof header + sizeof trailer) return Error(ErrorCode::corrupt, "The file is cut short", path);
  const size_t end = bytes.size() - sizeof trailer;
  std::memcpy(&trailer, bytes.data() + end, sizeof trailer);
  const std::string_view payload = std::string_view(bytes).substr(sizeof header, end - sizeof header);
  if (payload.size() != trailer.payload_bytes) return Error(ErrorCode::corrupt, "The file is cut short or continued by something else", path);
  ContentHasher hasher;
  hasher.add(std::string_view(bytes).substr(0, end));
  if (hasher.value() != trailer.checksum) return Error(ErrorCode::corrupt, "The content does not match its checksum", path);
  sections = header.sections;
  return payload;
}

Expected<std::vector<std::byte>> take_section(std::string_view& payload, const std::string& path) {
  uint64_t size = 0;
  if (payload.size() < sizeof size) return Error(ErrorCode::corrupt, "A section of the file is cut short", path);
  std::memcpy(&size, payload.data(), sizeof size);
  payload.remove_prefix(sizeof size);
  const size_t packed = ZSTD_findFrameCompressedSize(payload.data(), payload.size());
  if (ZSTD_isError(packed) || size > kMaxRawBytes) return Error(ErrorCode::corrupt, "A section of the file has an impossible size", path);
  std::vector<std::byte> raw;
  try {
    raw.resize(size);
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::out_of_memory, fmt::format("No memory for a section of {} bytes", size), path);
  }
  const size_t n = ZSTD_decompress(raw.data(), raw.size(), payload.data(), packed);
  if (ZSTD_isError(n) || n != size) return Error(ErrorCode::corrupt, "A section of the file cannot be decompressed", path);
  payload.remove_prefix(packed);
  return raw;
}

}  // namespace

const FileKind kExecutableFile{"a compiled network", [](std::string_view beginning) { return beginning.starts_with(std::string_view(kMagic, sizeof kMagic)); }};

Expected<void> save(const Executable& e, const std::string& path) {
  TW_CHECK(check_executable(e));
  Blobs blobs;
  const std::string description = dump_json(executable_to_json(e, blobs));
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.sections = static_cast<uint32_t>(2 + blobs.list().size());
  TW_TRY(FileWriter file, FileWriter::open(path, kExecutableFile));
  SectionWriter out{file};
  TW_CHECK(out.write(bytes_of(header)));
  TW_CHECK(out.write_section(description.data(), description.size()));
  TW_CHECK(out.write_section(e.artifact.object.data(), e.artifact.object.size()));
  for (const std::span<const std::byte> data : blobs.list()) TW_CHECK(out.write_section(data.data(), data.size()));
  const Trailer trailer{out.payload_bytes - sizeof header, out.hasher.value()};
  TW_CHECK(file.write(bytes_of(trailer)));
  return file.commit();
}

Expected<Executable> load_executable(const std::string& path) {
  TW_TRY(const std::string bytes, read_file(path));
  uint32_t sections = 0;
  TW_TRY(std::string_view payload, checked_payload(bytes, path, sections));
  if (sections < 2) return Error(ErrorCode::corrupt, fmt::format("Expected at least 2 sections, found {}", sections), path);
  TW_TRY(const std::vector<std::byte> description, take_section(payload, path));
  TW_TRY(std::vector<std::byte> object, take_section(payload, path));
  std::vector<std::shared_ptr<const ArrayBytes>> blobs;
  for (uint32_t i = 2; i < sections; ++i) {
    TW_TRY(std::vector<std::byte> data, take_section(payload, path));
    blobs.push_back(std::make_shared<const ArrayBytes>(std::move(data)));
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
