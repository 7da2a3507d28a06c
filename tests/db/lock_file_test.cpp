// SPDX-License-Identifier: Apache-2.0
#include "db/lock_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <filesystem>

#include "tests/db/db_fixture.h"

using namespace tw;
using namespace tw::db;
using namespace tw::db::fixture;

namespace {

/// A process that writes to a workspace until it is killed.
class Writer {
 public:
  explicit Writer(const std::string& path) {
    int ready[2];
    if (pipe(ready) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      Workspace w;
      auto db = Database::open(path);
      if (!db) _exit(1);
      w.db = *db;
      if (!w.fill() || !w.db->put_trials(w.session, w.task_id, {trial(w.task, 1)}) || write(ready[1], "x", 1) != 1) _exit(2);
      for (;;) pause();
    }
    char byte = 0;
    close(ready[1]);
    good_ = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
  }
  ~Writer() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  bool good() const { return good_; }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  bool good_ = false;
};

}  // namespace

class LockFileTest : public QObject {
  Q_OBJECT
  std::unique_ptr<QTemporaryDir> dir_;
  std::string path_;

  void expect_held(const std::string& path, pid_t by) {
    const auto db = Database::open(path);
    QVERIFY(!db);
    QCOMPARE(db.error().code, ErrorCode::infrastructure);
    QVERIFY2(db.error().message.find("process " + std::to_string(by) + " (") != std::string::npos, db.error().text().c_str());
  }

 private Q_SLOTS:
  void init() {
    dir_ = std::make_unique<QTemporaryDir>();
    path_ = dir_->filePath("a.twdb").toStdString();
  }

  void the_lock_is_the_files_and_not_its_names() {
    const Writer writer(path_);
    QVERIFY(writer.good());
    expect_held(path_, writer.pid());
    std::filesystem::create_symlink("a.twdb", dir_->filePath("link").toStdString());
    expect_held(dir_->filePath("link").toStdString(), writer.pid());
    std::filesystem::create_symlink(dir_->path().toStdString(), dir_->filePath("folder").toStdString());
    expect_held(dir_->filePath("folder/a.twdb").toStdString(), writer.pid());
    QVERIFY(QFile::remove(QString::fromStdString(path_ + ".lock")));
    expect_held(path_, writer.pid());
    const auto reader = Database::open(dir_->filePath("link").toStdString(), Mode::read_only);
    QVERIFY(reader);
    QCOMPARE((*reader)->trials(std::nullopt, std::nullopt)->size(), size_t{1});
  }
  void a_file_with_several_names_is_refused() {
    { QVERIFY(Database::open(path_)); }
    const std::string other = dir_->filePath("b.twdb").toStdString();
    std::filesystem::create_hard_link(path_, other);
    for (const std::string& name : {path_, other})
      for (const Mode mode : {Mode::read_write, Mode::read_only}) {
        const auto db = Database::open(name, mode);
        QVERIFY(!db);
        QCOMPARE(db.error().code, ErrorCode::invalid_argument);
        QVERIFY(db.error().message.find("with one name") != std::string::npos);
      }
    std::filesystem::remove(other);
    QVERIFY(Database::open(path_));
  }
  void a_link_to_nothing_makes_the_file_that_it_names() {
    std::filesystem::create_symlink("b.twdb", path_);
    const auto db = Database::open(path_);
    QVERIFY(db);
    QVERIFY(std::filesystem::is_symlink(path_));
    QVERIFY(std::filesystem::is_regular_file(dir_->filePath("b.twdb").toStdString()));
    QCOMPARE((*db)->path(), dir_->filePath("b.twdb").toStdString());
  }
  void it_is_free_again_after_a_kill_and_after_closing() {
    {
      const Writer writer(path_);
      QVERIFY(writer.good());
    }
    for (int i = 0; i < 2; ++i) QVERIFY(Database::open(path_));
  }
  /// A program of an earlier version locks the file beside the workspace alone.
  void earlier_versions_are_met() {
    { QVERIFY(Database::open(path_)); }
    const int fd = open((path_ + ".lock").c_str(), O_RDWR);
    QCOMPARE(flock(fd, LOCK_EX), 0);
    expect_held(path_, getpid());
    ::close(fd);
    QVERIFY(Database::open(path_));
  }
  /// Closing the writer's descriptor of the file would drop SQLite's locks of the reader in the same process.
  void a_reader_keeps_its_locks_when_the_writer_goes() {
    auto writer = *Database::open(path_);
    const auto reader = *Database::open(path_, Mode::read_only);
    QVERIFY(!Database::open(path_));
    writer.reset();
    QFile locks("/proc/locks");
    QVERIFY(locks.open(QIODevice::ReadOnly));
    const QByteArray mine = QByteArray::number(getpid());
    int count = 0;
    for (const QByteArray& line : locks.readAll().split('\n')) count += line.contains("POSIX") && line.simplified().split(' ').contains(mine);
    QVERIFY(count > 0);
    QVERIFY(Database::open(path_));
  }
};

QTEST_APPLESS_MAIN(LockFileTest)
#include "lock_file_test.moc"
