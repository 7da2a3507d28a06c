// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>

#include "tests/db/db_fixture.h"

using namespace tw;
using namespace tw::db;
using namespace tw::db::fixture;

namespace {

/// Runs f in a child without the rights of root; its result is the exit status.
int as_nobody(const std::function<int()>& f) {
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0)) _exit(77);
    _exit(f());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

class OpenTest : public QObject {
  Q_OBJECT
  std::unique_ptr<QTemporaryDir> dir_;
  std::string path_;

  void write_bytes(const QByteArray& bytes) {
    QFile file(QString::fromStdString(path_));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(bytes);
  }
  void expect(ErrorCode code, const char* words, Mode mode = Mode::read_write) {
    const auto db = Database::open(path_, mode);
    QVERIFY(!db);
    QVERIFY2(db.error().message.find(words) != std::string::npos, db.error().text().c_str());
    QCOMPARE(db.error().code, code);
  }

 private Q_SLOTS:
  void init() {
    dir_ = std::make_unique<QTemporaryDir>();
    path_ = dir_->filePath("a.twdb").toStdString();
  }

  void a_new_file_has_our_marks() {
    QVERIFY(Database::open(path_));
    SQLite::Database raw(path_);
    QCOMPARE(raw.execAndGet("PRAGMA application_id").getInt(), 0x54574442);
    QCOMPARE(raw.execAndGet("PRAGMA user_version").getInt(), 13);
    QCOMPARE(raw.execAndGet("PRAGMA page_size").getInt(), 8192);
    QCOMPARE(raw.execAndGet("PRAGMA journal_mode").getString(), std::string("wal"));
  }
  void an_empty_file_becomes_a_workspace() {
    write_bytes({});
    QVERIFY(Database::open(path_));
  }
  void a_missing_file_is_not_created_for_reading() {
    expect(ErrorCode::not_found, "found no such file", Mode::read_only);
    QVERIFY(!QFile::exists(QString::fromStdString(path_)));
  }
  void a_missing_folder_is_named() {
    path_ = dir_->filePath("no/such/a.twdb").toStdString();
    expect(ErrorCode::io_error, "no/such");
  }
  void a_folder_is_no_workspace() {
    path_ = dir_->path().toStdString();
    expect(ErrorCode::io_error, "no regular file");
  }
  void text_is_no_workspace() {
    write_bytes("This is a letter, not a database. It is long enough.");
    expect(ErrorCode::parse_error, "no SQLite database");
    expect(ErrorCode::parse_error, "no SQLite database", Mode::read_only);
    QFile file(QString::fromStdString(path_));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY(file.readAll().startsWith("This is a letter"));
  }
  void another_programs_database_is_left_alone() {
    {
      SQLite::Database raw(path_, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
      raw.exec("CREATE TABLE recipe(id INTEGER)");
    }
    expect(ErrorCode::parse_error, "another program");
    {
      SQLite::Database raw(path_, SQLite::OPEN_READWRITE);
      raw.exec("PRAGMA application_id = 252006673");
      raw.exec("PRAGMA user_version = 1");
    }
    expect(ErrorCode::parse_error, "0xf055111");
    SQLite::Database raw(path_);
    QCOMPARE(raw.execAndGet("SELECT count(*) FROM sqlite_schema").getInt(), 1);
  }
  void a_newer_version_is_refused_naming_both() {
    QVERIFY(Database::open(path_));
    {
      SQLite::Database raw(path_, SQLite::OPEN_READWRITE);
      raw.exec("PRAGMA user_version = 41");
    }
    for (const Mode mode : {Mode::read_write, Mode::read_only}) expect(ErrorCode::version, "version 13 or older", mode);
    expect(ErrorCode::version, "found version 41");
  }
  /// Format 10 was first without an index that is asked for by name.
  void files_of_format_10_get_the_index_that_they_lack() {
    QVERIFY(Database::open(path_));
    {
      SQLite::Database raw(path_, SQLite::OPEN_READWRITE);
      raw.exec("DROP INDEX trial_by_time");
      raw.exec("CREATE TABLE artifact(key TEXT PRIMARY KEY)");
      for (const char* column : {"fill_s", "verify_s"}) raw.exec(std::string("ALTER TABLE trial DROP COLUMN ") + column);
      raw.exec("ALTER TABLE model_task DROP COLUMN weights");
      raw.exec("PRAGMA user_version = 10");
    }
    const auto db = Database::open(path_);
    QVERIFY2(db, db ? "" : db.error().text().c_str());
    const auto tasks = (*db)->tasks();
    QVERIFY2(tasks, tasks ? "" : tasks.error().text().c_str());
    SQLite::Database raw(path_);
    QCOMPARE(raw.execAndGet("SELECT count(*) FROM sqlite_schema WHERE name = 'trial_by_time'").getInt(), 1);
    QCOMPARE(raw.execAndGet("SELECT count(*) FROM sqlite_schema WHERE name = 'artifact'").getInt(), 0);
  }
  void a_version_that_no_program_writes_is_damage() {
    { QVERIFY(Database::open(path_)); }
    for (const int version : {-3, 0}) {
      {
        SQLite::Database raw(path_, SQLite::OPEN_READWRITE);
        raw.exec("PRAGMA user_version = " + std::to_string(version));
      }
      for (const Mode mode : {Mode::read_write, Mode::read_only}) expect(ErrorCode::corrupt, "which no program writes", mode);
    }
  }
  void damage_is_found_after_an_unclean_end() {
    {
      Workspace w;
      w.db = *Database::open(path_);
      QVERIFY(w.fill());
      for (int i = 0; i < 20; ++i) {
        std::vector<records::Record> batch;
        for (int k = 0; k < 50; ++k) batch.push_back(trial(w.task, i * 50 + k));
        QVERIFY(w.db->put_trials(w.session, w.task_id, batch));
      }
    }
    {
      QFile file(QString::fromStdString(path_));
      QVERIFY(file.open(QIODevice::ReadWrite));
      for (qint64 page = 4; page < file.size() / 8192; ++page) {
        file.seek(page * 8192);
        file.write(QByteArray(64, '\xA5'));
      }
      QFile lock(QString::fromStdString(path_ + ".lock"));
      QVERIFY(lock.open(QIODevice::WriteOnly));
      lock.write("12345\n");
    }
    expect(ErrorCode::corrupt, "damaged");
  }
  void a_truncated_file_is_corrupt() {
    {
      Workspace w;
      w.db = *Database::open(path_);
      QVERIFY(w.fill());
    }
    QVERIFY(QFile::resize(QString::fromStdString(path_), 8192 + 100));
    const auto db = Database::open(path_);
    QVERIFY(!db);
    QCOMPARE(db.error().code, ErrorCode::corrupt);
  }
  void a_read_only_file_and_folder_are_said_so() {
    {
      Workspace w;
      w.db = *Database::open(path_);
      QVERIFY(w.fill());
    }
    QVERIFY(chmod(dir_->path().toStdString().c_str(), 0555) == 0);
    QVERIFY(chmod(path_.c_str(), 0444) == 0);
    const int status = as_nobody([&] {
      const auto writer = Database::open(path_);
      if (writer || writer.error().code != ErrorCode::io_error) return 1;
      const auto fresh = Database::open(path_ + "2");
      if (fresh || fresh.error().code != ErrorCode::io_error) return 2;
      const auto reader = Database::open(path_, Mode::read_only);
      if (!reader) return 3;
      return (*reader)->models()->size() == 1 ? 0 : 4;
    });
    QVERIFY(chmod(dir_->path().toStdString().c_str(), 0755) == 0);
    if (status == 77) QSKIP("root's rights cannot be dropped here");
    QCOMPARE(status, 0);
  }
};

QTEST_APPLESS_MAIN(OpenTest)
#include "open_test.moc"
