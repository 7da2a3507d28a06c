// SPDX-License-Identifier: Apache-2.0
#include "db/backup.h"

#include <SQLiteCpp/Backup.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <ctime>
#include <filesystem>

#include "db/sqlite_error.h"
#include "engine/base/file.h"
#include "engine/base/text.h"

namespace tw::db {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBackupsKept = 5;
/// What a backup leaves free for the workspace to grow.
constexpr uintmax_t kReserveBytes = uintmax_t{256} << 20;
constexpr const char* kBackupMark = ".backup-";
constexpr const char* kPart = ".part";  ///< ends the name of what is being written

fs::path folder_of(const std::string& path) { return fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path("."); }

Expected<void> sync_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return system_error("open", path);
  const bool synced = ::fsync(fd) == 0;
  Error error = synced ? Error() : system_error("sync", path);
  ::close(fd);
  if (!synced) return error;
  return {};
}

Expected<void> write_copy(SQLite::Database& source, const std::string& path, const StopToken& stop) {
  TW_CHECK(guarded(path, [&]() -> Expected<void> {
    // In one step nobody else writes meanwhile; whoever may stop it holds the only connection that does.
    const int pages = stop.stop_possible() ? 1024 : -1;
    SQLite::Database copy(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    SQLite::Backup backup(copy, source);
    for (int done = SQLITE_OK; done != SQLITE_DONE;) {
      if (stop.stop_requested()) return Error(ErrorCode::cancelled, fmt::format("Copying to '{}' was stopped", printable(path)));
      done = backup.executeStep(pages);
      if (done == SQLITE_BUSY || done == SQLITE_LOCKED)
        return Error(ErrorCode::infrastructure, fmt::format("The workspace '{}' stayed locked by another process", printable(source.getFilename())));
    }
    return {};
  }));
  TW_CHECK(guarded(path, [&]() -> Expected<void> {
    SQLite::Database copy(uri_of(path, "immutable=1"), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    const Interruptible here(copy, stop);
    const std::string found = copy.execAndGet("PRAGMA quick_check(1)").getString();
    if (found != "ok") return Error(ErrorCode::corrupt, fmt::format("The copy '{}' is damaged: {}", printable(path), found));
    return {};
  }));
  return sync_file(path);
}

/// What a kill left of a backup an hour ago or more: no backup takes so long.
void remove_unfinished(const std::string& path) {
  constexpr auto kLongest = std::chrono::hours(1);
  const std::string beginning = fs::path(path).filename().string() + kBackupMark;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_of(path), error)) {
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    const auto age = fs::file_time_type::clock::now() - fs::last_write_time(entry.path(), ignored);
    if (name.starts_with(beginning) && name.ends_with(kPart) && !ignored && age > kLongest) fs::remove(entry.path(), ignored);
  }
}

bool is_stamp(std::string_view text) {
  return text.size() == time_stamp().size() && std::all_of(text.begin(), text.end(), [](char c) { return std::isdigit(c) != 0 || c == 'T' || c == 'Z'; });
}

}  // namespace

int64_t bytes_of(const std::string& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(bytes);
}

std::string time_stamp() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc);
  return text;
}

std::string uri_of(const std::string& path, const std::string& options) {
  std::string uri = "file:";
  for (const char c : path) uri += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  return uri + "?" + options;
}

Expected<void> copy_database(SQLite::Database& source, const std::string& path, const StopToken& stop) {
  const std::string part = path + kPart;
  std::error_code error;
  fs::remove(part, error);
  auto written = write_copy(source, part, stop);
  if (written && std::rename(part.c_str(), path.c_str()) != 0) written = system_error("rename", part);
  if (!written) {
    for (const char* end : {"", "-journal", "-wal", "-shm"}) fs::remove(part + end, error);
    return written.error();
  }
  return {};
}

std::vector<std::string> backups_of(const std::string& path) {
  const std::string beginning = fs::path(path).filename().string() + kBackupMark;
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_of(path), error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(beginning) && is_stamp(std::string_view(name).substr(beginning.size()))) found.push_back(entry.path().string());
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

Expected<std::string> back_up(SQLite::Database& source, const std::string& path) {
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  const fs::space_info space = fs::space(path, error);
  if (!error && space.available < size + kReserveBytes) {
    return Error(ErrorCode::no_space, fmt::format("Expected {} MiB for a backup of '{}' and 256 more for itself, found {}", (size >> 20) + 1, printable(path),
                                                  space.available >> 20));
  }
  const std::string name = path + kBackupMark + time_stamp();
  remove_unfinished(path);
  TW_CHECK(copy_database(source, name));
  const std::vector<std::string> all = backups_of(path);
  for (size_t i = kBackupsKept; i < all.size(); ++i) fs::remove(all[i], error);
  return name;
}

}  // namespace tw::db
