// SPDX-License-Identifier: Apache-2.0
#include "db/backup.h"

#include <utime.h>

#include <QtTest>

#include "db/maintenance.h"
#include "tests/db/db_fixture.h"

using namespace tw;
using namespace tw::db;
using namespace tw::db::fixture;

class BackupTest : public QObject {
  Q_OBJECT
  std::unique_ptr<QTemporaryDir> dir_;
  std::string path_;

  QStringList backups() const { return QDir(dir_->path()).entryList({"a.twdb.backup-*"}); }
  Workspace workspace() {
    Workspace w;
    w.db = *Database::open(path_);
    if (!w.fill()) w.db.reset();
    return w;
  }

 private Q_SLOTS:
  void init() {
    dir_ = std::make_unique<QTemporaryDir>();
    path_ = dir_->filePath("a.twdb").toStdString();
  }

  void tuning_backs_up_when_it_is_time() {
    Workspace w = workspace();
    QVERIFY(w.db->put_trials(w.session, w.task_id, {trial(w.task, 1)}));
    QVERIFY(backups().isEmpty());  // the hour is not over
    w.db->back_up_every(1e-6);
    QVERIFY(w.db->put_trials(w.session, w.task_id, {trial(w.task, 2)}));
    QCOMPARE(backups().size(), 1);
    const auto events = w.db->events(w.session);
    QCOMPARE(events->size(), size_t{1});
    QCOMPARE(events->at(0).kind, std::string("backup"));
    QVERIFY(events->at(0).text.find(backups()[0].toStdString()) != std::string::npos);
    w.db->back_up_every(0);
    QVERIFY(w.db->put_trials(w.session, w.task_id, {trial(w.task, 3)}));
    const std::string backup = dir_->filePath(backups()[0]).toStdString();
    QVERIFY(check_workspace(backup, {})->sound());
    QCOMPARE((*Database::open(backup, Mode::read_only))->trials(std::nullopt, std::nullopt)->size(), size_t{2});
  }

  /// The hour counts from the last backup, not from the beginning of the program.
  void sessions_of_minutes_are_backed_up_too() {
    { QVERIFY(workspace().db); }
    const auto backup = back_up_workspace(path_, "");
    QVERIFY(backup);
    const std::string old = path_ + ".backup-20200101T000000Z";
    QVERIFY(QFile::rename(QString::fromStdString(*backup), QString::fromStdString(old)));
    const utimbuf then{1577836800, 1577836800};
    QCOMPARE(utime(old.c_str(), &then), 0);
    const auto db = *Database::open(path_);
    QVERIFY(db->put_trials(SessionId{1}, TaskId{1}, {trial(task(), 1)}));
    QCOMPARE(backups().size(), 2);
  }

  void five_stay_and_nothing_else_goes() {
    { QVERIFY(workspace().db); }
    for (int day = 1; day <= 7; ++day)
      QVERIFY(QFile::copy(QString::fromStdString(path_), QString::fromStdString(path_ + ".backup-2020010" + std::to_string(day) + "T000000Z")));
    for (const char* other : {"a.twdb.backup-mine", "a.twdb.backup-20200101T000000Z.gz", "b.twdb.backup-20200101T000000Z"})
      QVERIFY(QFile::copy(QString::fromStdString(path_), dir_->filePath(other)));
    QVERIFY(back_up_workspace(path_, ""));
    QCOMPARE(backups_of(path_).size(), size_t{5});
    QCOMPARE(backups().size(), 7);  // with the two that only look alike
    QVERIFY(backups().contains("a.twdb.backup-20200107T000000Z"));
    QVERIFY(!backups().contains("a.twdb.backup-20200103T000000Z"));
  }

  void a_backup_that_fails_stops_nothing() {
    Workspace w = workspace();
    w.db->back_up_every(1e-6);
    // Folders have the names of what would be written.
    const std::string minute = time_stamp().substr(0, 13);
    for (int second = 0; second < 60; ++second) {
      const std::string two = {static_cast<char>('0' + second / 10), static_cast<char>('0' + second % 10)};
      QVERIFY(QDir().mkpath(QString::fromStdString(path_ + ".backup-" + minute + two + "Z.part/x")));
    }
    const auto stored = w.db->put_trials(w.session, w.task_id, {trial(w.task, 1)});
    QVERIFY(stored);
    const auto events = w.db->events(w.session);
    QCOMPARE(events->size(), size_t{1});
    if (time_stamp().substr(0, 13) == minute) QVERIFY(events->at(0).text.starts_with("No backup was written"));
  }

  void a_copy_takes_no_other_place() {
    { QVERIFY(workspace().db); }
    const std::string other = dir_->filePath("letter").toStdString();
    QFile letter(QString::fromStdString(other));
    QVERIFY(letter.open(QIODevice::WriteOnly));
    letter.write("Dear reader");
    letter.close();
    const auto refused = back_up_workspace(path_, other);
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::invalid_argument);
    QCOMPARE(QFileInfo(QString::fromStdString(other)).size(), qint64{11});
  }
};

QTEST_APPLESS_MAIN(BackupTest)
#include "backup_test.moc"
