// SPDX-License-Identifier: Apache-2.0
#include "engine/process/temporary_folder.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>

using namespace tw;
using namespace tw::process;

class TemporaryFolderTest : public QObject {
  Q_OBJECT
  QTemporaryDir dir_;

  QStringList folders() const { return QDir(dir_.path()).entryList({"tw-scratch-*"}, QDir::Dirs); }
  void make_old(const QString& name) const {
    const timespec then[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    QCOMPARE(utimensat(AT_FDCWD, dir_.filePath(name).toStdString().c_str(), then, 0), 0);
  }

 private Q_SLOTS:
  void initTestCase() { qputenv("TMPDIR", dir_.path().toUtf8()); }
  void cleanupTestCase() { qunsetenv("TMPDIR"); }

  void it_goes_with_its_value() {
    {
      const auto folder = TemporaryFolder::create();
      QVERIFY(folder);
      QVERIFY(QFile::exists(QString::fromStdString(folder->path())));
    }
    QVERIFY(folders().isEmpty());
  }

  void folders_of_the_dead_are_swept_and_no_others() {
    int ready[2];
    QCOMPARE(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
      const auto folder = TemporaryFolder::create();
      if (!folder || write(ready[1], "x", 1) != 1) _exit(1);
      for (;;) pause();
    }
    char byte = 0;
    QCOMPARE(read(ready[0], &byte, 1), ssize_t{1});
    close(ready[0]);
    close(ready[1]);
    QCOMPARE(folders().size(), 1);
    const QString theirs = folders()[0];
    make_old(theirs);
    const auto mine = TemporaryFolder::create();
    QVERIFY(mine);
    make_old(QFileInfo(QString::fromStdString(mine->path())).fileName());
    for (const char* name : {"tw-scratch-notes", "tw-scratch-abcdefg", "other-abcdef"}) {
      QVERIFY(QDir(dir_.path()).mkdir(name));
      make_old(name);
    }
    sweep_temporary_folders();
    QVERIFY(folders().contains(theirs));  // its process lives
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    QVERIFY(QFile(dir_.filePath(theirs + "/file")).open(QIODevice::WriteOnly));
    sweep_temporary_folders();
    QVERIFY(folders().contains(theirs));  // it was touched just now
    make_old(theirs);
    sweep_temporary_folders();
    QVERIFY(!folders().contains(theirs));
    QVERIFY(QFile::exists(QString::fromStdString(mine->path())));
    for (const char* name : {"tw-scratch-notes", "tw-scratch-abcdefg", "other-abcdef"}) QVERIFY2(QFile::exists(dir_.filePath(name)), name);
  }
};

QTEST_APPLESS_MAIN(TemporaryFolderTest)
#include "temporary_folder_test.moc"
