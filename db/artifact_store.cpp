// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zstd.h>

#include "db/database_impl.h"
#include "engine/base/hash.h"

namespace tw::db {
namespace {

constexpr int kLevel = 3;
constexpr int64_t kMaxRawBytes = int64_t{1} << 30;

}  // namespace

Expected<std::string> Database::put_artifact(std::string_view bytes, const std::string& kind) {
  const std::string key = content_key(bytes);
  if (static_cast<int64_t>(bytes.size()) > kMaxRawBytes) {
    return Error(ErrorCode::resource_limit, fmt::format("Expected an artifact of at most {} bytes, found {}", kMaxRawBytes, bytes.size()));
  }
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), kLevel);
  TW_ASSERT(!ZSTD_isError(size), ZSTD_getErrorName(size));
  return impl_->write([&](SQLite::Database& c) -> Expected<std::string> {
    SQLite::Statement put(c, "INSERT INTO artifact(key, kind, raw_bytes, data) VALUES(?, ?, ?, ?) ON CONFLICT DO NOTHING");
    put.bind(1, key);
    put.bind(2, kind);
    put.bind(3, static_cast<int64_t>(bytes.size()));
    put.bind(4, packed.data(), static_cast<int>(size));
    put.exec();
    return key;
  });
}

Expected<std::string> Database::artifact(const std::string& key) {
  return impl_->read([&](SQLite::Database& c) -> Expected<std::string> {
    SQLite::Statement q(c, "SELECT raw_bytes, data FROM artifact WHERE key = ?");
    q.bind(1, key);
    if (!q.executeStep()) return Error(ErrorCode::not_found, fmt::format("Expected an artifact with the key '{}', found none", key));
    const int64_t raw = q.getColumn(0).getInt64();
    const Error damaged(ErrorCode::corrupt, fmt::format("The artifact '{}' is damaged", key));
    if (raw < 0 || raw > kMaxRawBytes) return damaged;
    std::string bytes(static_cast<size_t>(raw), '\0');
    const SQLite::Column data = q.getColumn(1);
    const size_t size = ZSTD_decompress(bytes.data(), bytes.size(), data.getBlob(), static_cast<size_t>(data.getBytes()));
    if (ZSTD_isError(size) || size != bytes.size() || content_key(bytes) != key) return damaged;
    return bytes;
  });
}

}  // namespace tw::db
