// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>

#include "engine/base/rng.h"
#include "tests/db/db_fixture.h"

using namespace tw;
using namespace tw::db;
using namespace tw::db::fixture;

namespace {

constexpr int kNoTmpfs = 77;
constexpr int64_t kBatch = 8;

/// Commits batches of new points for ever and reports the last point of each that was acknowledged.
[[noreturn]] void write_until_killed(const std::string& path, int64_t first, int report) {
  auto db = Database::open(path);
  if (!db) _exit(1);
  Workspace w;
  w.db = *db;
  if (!w.fill()) _exit(2);
  for (int64_t next = first;; next += kBatch) {
    std::vector<records::Record> batch;
    for (int64_t i = 0; i < kBatch; ++i) batch.push_back(trial(w.task, next + i));
    if (!w.db->put_trials(w.session, w.task_id, batch)) _exit(3);
    const int64_t last = next + kBatch - 1;
    if (write(report, &last, sizeof(last)) != sizeof(last)) _exit(4);
  }
}

/// Fills a workspace on a disk of 2 MiB until it is full. 0 if nothing acknowledged was lost.
int fill_small_disk(const std::string& folder) {
  if (geteuid() == 0 ? unshare(CLONE_NEWNS) != 0 : unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return kNoTmpfs;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 || mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=2m") != 0) return kNoTmpfs;
  const std::string path = folder + "/a.twdb";
  int64_t stored = 0;
  {
    Workspace w;
    auto db = Database::open(path);
    if (!db) return 1;
    w.db = *db;
    if (!w.fill()) return 2;
    for (;; stored += 50) {
      std::vector<records::Record> batch;
      for (int64_t i = 0; i < 50; ++i) batch.push_back(trial(w.task, stored + i));
      const auto ids = w.db->put_trials(w.session, w.task_id, batch);
      if (ids) continue;
      if (ids.error().code != ErrorCode::no_space) return 3;
      break;
    }
    if (stored < 100) return 4;
    const auto rows = w.db->trials(std::nullopt, std::nullopt);
    if (!rows || static_cast<int64_t>(rows->size()) != stored) return 5;
  }
  const auto again = Database::open(path, Mode::read_only);
  if (!again) return 6;
  const auto rows = (*again)->trials(std::nullopt, std::nullopt);
  return rows && static_cast<int64_t>(rows->size()) == stored ? 0 : 7;
}

}  // namespace

class FaultTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void acknowledged_trials_survive_kills() {
    QTemporaryDir dir;
    const std::string path = dir.filePath("a.twdb").toStdString();
    Rng rng(20);
    int64_t acknowledged = -1;
    int killed_while_writing = 0;
    for (int round = 0; round < 40; ++round) {
      int pipe_ends[2];
      QCOMPARE(pipe(pipe_ends), 0);
      const pid_t child = fork();
      if (child == 0) {
        close(pipe_ends[0]);
        write_until_killed(path, acknowledged + 1, pipe_ends[1]);
      }
      close(pipe_ends[1]);
      usleep(static_cast<useconds_t>(rng.range(5000, 60000)));
      kill(child, SIGKILL);
      int status = 0;
      waitpid(child, &status, 0);
      QVERIFY(WIFSIGNALED(status));
      int64_t last = -1, acknowledged_now = -1;
      while (read(pipe_ends[0], &last, sizeof(last)) == sizeof(last)) acknowledged_now = last;
      close(pipe_ends[0]);
      if (acknowledged_now >= 0) ++killed_while_writing;
      const auto db = Database::open(path);
      QVERIFY2(db, db ? "" : db.error().text().c_str());
      const auto sessions = (*db)->sessions();
      QVERIFY(sessions);
      for (const SessionRow& s : *sessions) QCOMPARE(s.state, std::string("interrupted"));
      const auto rows = (*db)->trials(std::nullopt, std::nullopt);
      QVERIFY(rows);
      QCOMPARE(static_cast<int64_t>(rows->size()) % kBatch, int64_t{0});
      int64_t stored = -1;
      for (const TrialRow& row : *rows) stored = std::max(stored, row.record.candidate.index);
      QVERIFY2(stored >= acknowledged_now, qPrintable(QString("%1 of %2").arg(stored).arg(acknowledged_now)));
      acknowledged = std::max(stored, acknowledged);
      const auto found = (*db)->task_by_key(task().key);
      QVERIFY(found);
      if (*found) QCOMPARE((*found)->counts().trials, static_cast<int64_t>(rows->size()));
    }
    qInfo("%d of 40 kills hit a writing process", killed_while_writing);
    QVERIFY(killed_while_writing >= 10);
  }

  void a_database_that_goes_away_is_kept_beside() {
    for (const bool replaced : {false, true}) {
      QTemporaryDir dir;
      const std::string path = dir.filePath("a.twdb").toStdString();
      Workspace w;
      w.db = *Database::open(path);
      QVERIFY(w.fill());
      QVERIFY(w.db->put_trials(w.session, w.task_id, {trial(w.task, 1)}));
      QVERIFY(QFile::remove(QString::fromStdString(path)));
      if (replaced) {
        QFile other(QString::fromStdString(path));
        QVERIFY(other.open(QIODevice::WriteOnly));
        other.write("a letter");
      }
      const auto stored = w.db->put_trials(w.session, w.task_id, {trial(w.task, 2)});
      QVERIFY(!stored);
      QCOMPARE(stored.error().code, ErrorCode::io_error);
      QVERIFY(stored.error().message.find(replaced ? "replaced by another file" : "was deleted") != std::string::npos);
      QVERIFY(w.db->end_session(w.session, "done").error().message == stored.error().message);
      const QStringList kept = QDir(dir.path()).entryList({"a.twdb.rescued-*"});
      QCOMPARE(kept.size(), 1);
      QVERIFY(stored.error().message.find(kept[0].toStdString()) != std::string::npos);
      const auto rescued = Database::open(dir.filePath(kept[0]).toStdString());
      QVERIFY(rescued);
      QCOMPARE((*rescued)->trials(std::nullopt, std::nullopt)->size(), size_t{2});
      if (replaced) QCOMPARE(QFileInfo(QString::fromStdString(path)).size(), qint64{8});
    }
  }

  void a_full_disk_loses_nothing() {
    QTemporaryDir dir;
    const pid_t child = fork();
    if (child == 0) _exit(fill_small_disk(dir.path().toStdString()));
    int status = -1;
    waitpid(child, &status, 0);
    QVERIFY(WIFEXITED(status));
    if (WEXITSTATUS(status) == kNoTmpfs) QSKIP("no small disk can be mounted here");
    QCOMPARE(WEXITSTATUS(status), 0);
  }
};

QTEST_APPLESS_MAIN(FaultTest)
#include "fault_test.moc"
