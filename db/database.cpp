// SPDX-License-Identifier: Apache-2.0
#include "db/database.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "db/backup.h"
#include "db/bundle.h"
#include "db/connection.h"
#include "db/database_impl.h"
#include "db/migrate.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/text.h"

namespace tw::db {
namespace {

/// Sessions that were running belong to a process that is gone: only one writes.
Expected<void> interrupt_stale_sessions(SQLite::Database& connection, const std::string& path) {
  return guarded(path, [&]() -> Expected<void> {
    if (connection.execAndGet("SELECT count(*) FROM session WHERE state = 'running'").getInt() == 0) return {};
    connection.exec(
        "UPDATE session SET state = 'interrupted', ended_s = "
        "max(started_s, coalesce((SELECT max(timestamp_s) FROM trial WHERE trial.session_id = session.id), 0)) WHERE state = 'running'");
    return {};
  });
}

/// Unix time from which the next backup's hour counts: the last backup's, or now.
double last_backup_s(const std::string& path) {
  const double now = unix_now_s();
  const auto backups = backups_of(path);
  struct stat info {};
  if (backups.empty() || ::stat(backups.front().c_str(), &info) != 0) return now;
  return std::min(now, static_cast<double>(info.st_mtime));
}

}  // namespace

double seconds_or_infinity(const SQLite::Column& column) { return column.isNull() ? std::numeric_limits<double>::infinity() : column.getDouble(); }

Expected<void> Database::Impl::still_there() {
  int moved = 0;
  if (sqlite3_file_control(connection->getHandle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK || moved == 0) return {};
  std::error_code error;
  const bool replaced = std::filesystem::exists(path, error);
  const std::string name = fmt::format("{}.rescued-{}", std::filesystem::path(path).filename().string(), static_cast<int64_t>(unix_now_s()));
  lost = Error(ErrorCode::io_error, fmt::format("The workspace '{}' was {} while it was open, and what it held could not be kept", path,
                                                replaced ? "replaced by another file" : "deleted"));
  for (const std::filesystem::path& folder : {std::filesystem::path(path).parent_path(), std::filesystem::temp_directory_path(error)}) {
    const std::string kept = (folder / name).string();
    if (!copy_database(*connection, kept)) continue;
    lost->message = fmt::format("The workspace '{}' was {} while it was open; all that was stored is in '{}'", path,
                                replaced ? "replaced by another file" : "deleted", kept);
    break;
  }
  return *lost;
}

void Database::Impl::back_up_if_due(SessionId session) {
  const double now = unix_now_s();
  if (!(backup_every_s > 0) || now - backed_up_s < backup_every_s) return;
  backed_up_s = now;
  const auto backup = guarded(path, [&] { return back_up(*connection, path); });
  // Were it not for the note, the session's people would learn of it when they need the backup.
  static_cast<void>(guarded(path, [&]() -> Expected<void> {
    db::put_event(*connection, session, "backup", backup ? "Backed up to " + *backup : "No backup was written: " + backup.error().text(), unix_now_s());
    return {};
  }));
}

void Database::back_up_every(double seconds) {
  const std::lock_guard guard(impl_->mutex);
  impl_->backup_every_s = seconds;
}
std::vector<DamagedRow> Database::damaged() {
  const std::lock_guard guard(impl_->mutex);
  return impl_->damage.rows();
}
void Database::note_damage(const DamagedRow& row) {
  // Asked like any reading, so that whoever wants to know is told.
  static_cast<void>(impl_->read([&](SQLite::Database&) -> Expected<void> {
    impl_->damage.add(row);
    return {};
  }));
}
void Database::on_damage(std::function<void()> tell) {
  const std::lock_guard guard(impl_->mutex);
  impl_->tell_damage = std::move(tell);
}

Database::Database() : impl_(std::make_unique<Impl>()) {}
Database::~Database() {
  impl_->connection.reset();
  impl_->in_use.reset();
  impl_->lock.reset();
  close_parked();
}
const std::string& Database::path() const { return impl_->path; }
Mode Database::mode() const { return impl_->mode; }

Expected<std::shared_ptr<Database>> Database::open(const std::string& path, Mode mode, const Upgrade& upgrade) {
  auto opened = open_as_it_is(path, mode, upgrade);
  if (!opened && opened.error().code == ErrorCode::corrupt && !is_bundle(path))
    return Error(ErrorCode::corrupt, fmt::format("{}; `tw db repair {}` keeps all that can be read", opened.error().message, printable(path)));
  return opened;
}

Expected<std::shared_ptr<Database>> Database::open_as_it_is(const std::string& given, Mode mode, const Upgrade& upgrade) {
  // SQLite keeps its log, and we the lock, beside the file itself.
  TW_TRY(const std::string path, resolve_links(given));
  const bool bundle = mode == Mode::read_only && is_bundle(path);
  if (!bundle) TW_CHECK(check_file(path, mode));
  std::shared_ptr<Database> db(new Database);
  Impl& impl = *db->impl_;
  impl.path = path;
  impl.mode = mode;
  if (bundle) {
    TW_TRY(const UnpackedBundle unpacked, UnpackedBundle::of(path));
    TW_TRY(impl.connection, open_reader(unpacked.path(), impl.damage));
    return db;
  }
  if (mode == Mode::read_only) {
    impl.in_use.emplace(path, FileUse::database);
    TW_TRY(impl.connection, open_reader(path, impl.damage));
    TW_TRY(const int version, check_version(*impl.connection, path, embedded_migrations().back().number));
    if (version < embedded_migrations().back().number) {
      return Error(ErrorCode::version,
                   fmt::format("Expected a workspace of format version {} in '{}', found version {}; open it once for writing to bring it up to date",
                               embedded_migrations().back().number, path, version));
    }
    return db;
  }
  TW_TRY(impl.lock, LockFile::acquire(path));
  impl.in_use.emplace(path, FileUse::database);
  TW_TRY(impl.connection, open_writer(path, !impl.lock->last_end_was_clean(), impl.damage, upgrade));
  TW_CHECK(interrupt_stale_sessions(*impl.connection, path));
  impl.backed_up_s = last_backup_s(path);
  return db;
}

}  // namespace tw::db
