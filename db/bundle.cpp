// SPDX-License-Identifier: Apache-2.0
#include "db/bundle.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "db/backup.h"
#include "db/connection.h"
#include "db/migrate.h"
#include "db/sqlite_error.h"
#include "engine/base/file.h"
#include "engine/base/text.h"

namespace tw::db {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFrame = "\x28\xb5\x2f\xfd";  // RFC 8878, 3.1.1
const FileKind kBundle{"a bundle", [](std::string_view beginning) { return beginning.starts_with(kFrame); }};
constexpr int kLevel = 9;                             // twice as small as the fastest, still 50 MB/s
constexpr uintmax_t kLeftFree = uintmax_t{256} << 20;  // on the disk that a bundle is unpacked to

Expected<void> compress(const std::string& from, const std::string& to) {
  TW_TRY(FileReader reader, FileReader::open(from));
  TW_TRY(FileWriter writer, FileWriter::open(to, kBundle));
  const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setPledgedSrcSize(context.get(), static_cast<unsigned long long>(bytes_of(from)));
  std::string piece(size_t{1} << 20, '\0'), packed(ZSTD_CStreamOutSize(), '\0');
  for (bool last = false; !last;) {
    TW_TRY(const size_t bytes, reader.read(piece));
    last = bytes == 0;
    ZSTD_inBuffer in{piece.data(), bytes, 0};
    for (size_t left = 1; last ? left != 0 : in.pos < in.size;) {
      ZSTD_outBuffer out{packed.data(), packed.size(), 0};
      left = ZSTD_compressStream2(context.get(), &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      if (ZSTD_isError(left) != 0) return Error(ErrorCode::io_error, fmt::format("'{}' cannot be packed: {}", printable(to), ZSTD_getErrorName(left)));
      TW_CHECK(writer.write(std::string_view(packed.data(), out.pos)));
    }
  }
  return writer.commit();
}

Error no_bundle(const std::string& path, const std::string& found) {
  return {ErrorCode::parse_error, fmt::format("Expected a bundle of sessions in '{}', found {}", printable(path), found)};
}

Expected<void> decompress(const std::string& from, const std::string& to) {
  TW_TRY(FileReader reader, FileReader::open(from));
  std::string piece(size_t{1} << 20, '\0'), plain(ZSTD_DStreamOutSize(), '\0');
  TW_TRY(size_t bytes, reader.read(piece));
  // What comes out is known from the beginning, so a small file that would fill the disk is none.
  const unsigned long long declared = ZSTD_getFrameContentSize(piece.data(), bytes);
  if (declared == ZSTD_CONTENTSIZE_ERROR || declared == ZSTD_CONTENTSIZE_UNKNOWN) return no_bundle(from, "a file that does not say how long it is unpacked");
  std::error_code error;
  const fs::path folder = fs::path(to).has_parent_path() ? fs::path(to).parent_path() : fs::path(".");
  const auto space = fs::space(folder, error);
  if (!error && (declared > space.available || space.available - declared < kLeftFree))
    return Error(ErrorCode::no_space, fmt::format("'{}' takes {} unpacked, and '{}' has {} free", printable(from), si_text(static_cast<double>(declared), "B"),
                                                  printable(folder.string()), si_text(static_cast<double>(space.available), "B")));
  TW_TRY(FileWriter writer, FileWriter::open(to, kAnyOutput));
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  unsigned long long written = 0;
  size_t left = 1;
  while (bytes > 0) {
    ZSTD_inBuffer in{piece.data(), bytes, 0};
    while (in.pos < in.size) {
      if (left == 0) return no_bundle(from, "more after its end");
      ZSTD_outBuffer out{plain.data(), plain.size(), 0};
      left = ZSTD_decompressStream(context.get(), &out, &in);
      if (ZSTD_isError(left) != 0) return Error(ErrorCode::corrupt, fmt::format("The bundle '{}' is damaged: {}", printable(from), ZSTD_getErrorName(left)));
      written += out.pos;
      TW_CHECK(writer.write(std::string_view(plain.data(), out.pos)));
    }
    TW_TRY(bytes, reader.read(piece));
  }
  if (left != 0 || written != declared) return Error(ErrorCode::corrupt, fmt::format("The bundle '{}' ends before its time: expected {} bytes, found {}", printable(from), declared, written));
  return writer.commit(false);
}

/// Leaves what belongs to the sessions that are there.
constexpr const char* kOnlyOfSessions =
    "DELETE FROM network_verdict WHERE final_id IN (SELECT id FROM network_final WHERE session_id IS NULL);"
    "DELETE FROM network_final WHERE session_id IS NULL;"
    "DELETE FROM mark WHERE noun LIKE 'model:%' AND substr(noun, 7) NOT IN (SELECT content_key FROM model WHERE id IN (SELECT model_id FROM session));"
    "DELETE FROM model_task WHERE model_id NOT IN (SELECT model_id FROM session);"
    "DELETE FROM model WHERE id NOT IN (SELECT model_id FROM session);"
    "DELETE FROM task_count WHERE task_id NOT IN (SELECT task_id FROM model_task) AND task_id NOT IN (SELECT task_id FROM trial);"
    "DELETE FROM task WHERE id NOT IN (SELECT task_id FROM model_task) AND id NOT IN (SELECT task_id FROM trial);"
    "DELETE FROM mark WHERE noun LIKE 'task:%' AND substr(noun, 6) NOT IN (SELECT key FROM task);"
    "UPDATE model SET path = replace(path, rtrim(path, replace(path, '/', '')), '');"
    "PRAGMA journal_mode = DELETE;"
    "VACUUM;";

}  // namespace

bool is_bundle(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  auto reader = FileReader::open(path);
  std::string beginning(kFrame.size(), '\0');
  if (!reader) return false;
  const auto bytes = reader->read(beginning);
  return bytes && *bytes == beginning.size() && kBundle.is(beginning);
}

Expected<BundleReport> pack_bundle(const std::string& given, std::span<const SessionId> wanted, const std::string& to) {
  TW_TRY(const std::string path, resolve_links(given));
  TW_CHECK(check_output(to, kBundle));
  TW_CHECK(check_file(path, Mode::read_only));
  TW_TRY(process::TemporaryFolder folder, process::TemporaryFolder::create());
  const UnpackedBundle scratch(std::move(folder));
  {
    Damage damage;
    TW_TRY(auto source, open_reader(path, damage));
    TW_CHECK(copy_database(*source, scratch.path()));
  }
  BundleReport report;
  {
    TW_TRY(const auto copy, Database::open(scratch.path()));
    TW_TRY(const auto rows, copy->sessions());
    for (const SessionId id : wanted)
      if (std::none_of(rows.begin(), rows.end(), [&](const SessionRow& row) { return row.id == id; }))
        return Error(ErrorCode::not_found, fmt::format("Expected a session {} in '{}', found none", id.value, printable(path)));
    for (const SessionRow& row : rows) {
      if (wanted.empty() || std::find(wanted.begin(), wanted.end(), row.id) != wanted.end())
        ++report.sessions, report.trials += row.trials;
      else
        TW_CHECK(copy->remove_session(row.id));
    }
  }
  {
    Damage damage;
    TW_TRY(auto copy, open_writer(scratch.path(), false, damage));
    TW_CHECK(guarded(path, [&]() -> Expected<void> {
      copy->exec(kOnlyOfSessions);
      return {};
    }));
  }
  TW_CHECK(compress(scratch.path(), to));
  report.bytes = bytes_of(to);
  return report;
}

Expected<void> unpack_bundle(const std::string& bundle, const std::string& to) {
  std::error_code ignored;
  if (fs::exists(to, ignored)) return Error(ErrorCode::invalid_argument, fmt::format("Expected a new file for the workspace, found '{}' there already", printable(to)));
  // What it is shows where it is no workspace yet that anyone opens.
  TW_TRY(const UnpackedBundle unpacked, UnpackedBundle::of(bundle));
  Damage damage;
  TW_TRY(auto source, open_reader(unpacked.path(), damage));
  return copy_database(*source, to);
}

Expected<UnpackedBundle> UnpackedBundle::of(const std::string& bundle) {
  if (!is_bundle(bundle)) {
    std::error_code ignored;
    if (!fs::exists(bundle, ignored)) return Error(ErrorCode::not_found, fmt::format("Expected a bundle '{}', found no such file", printable(bundle)));
    return no_bundle(bundle, "another kind of file");
  }
  TW_TRY(process::TemporaryFolder folder, process::TemporaryFolder::create());
  UnpackedBundle unpacked(std::move(folder));
  TW_CHECK(decompress(bundle, unpacked.path()));
  TW_CHECK(check_file(unpacked.path(), Mode::read_only));
  Damage damage;
  TW_TRY(auto writer, open_writer(unpacked.path(), true, damage));
  return guarded(bundle, [&]() -> Expected<UnpackedBundle> {
    writer->exec("PRAGMA journal_mode = DELETE");
    return std::move(unpacked);
  });
}

std::string UnpackedBundle::path() const { return folder_.path() + "/workspace.twdb"; }

}  // namespace tw::db
