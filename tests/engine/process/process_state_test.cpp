// SPDX-License-Identifier: Apache-2.0
#include "engine/process/process_state.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>

using namespace tw::process;

class ProcessStateTest : public QObject {
  Q_OBJECT
  pid_t child_ = -1;

 private Q_SLOTS:
  void init() {
    child_ = fork();
    if (child_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      prctl(PR_SET_NAME, "a) T (b");
      for (;;) pause();
    }
  }
  void cleanup() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  void names_may_hold_anything() {
    QTRY_COMPARE(state_of(child_)->name, std::string("a) T (b"));
    QVERIFY(!state_of(child_)->stopped);
    QCOMPARE(describe_process(child_), "process " + std::to_string(child_) + " (a) T (b)");
  }
  void stopped_ones_are_known() {
    kill(child_, SIGSTOP);
    QTRY_VERIFY(state_of(child_)->stopped);
    QVERIFY(describe_process(child_).ends_with(", which is stopped"));
    kill(child_, SIGCONT);
    QTRY_VERIFY(!state_of(child_)->stopped);
  }
  void who_is_not_there_is_not_described() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    QVERIFY(!state_of(child_));
    QCOMPARE(describe_process(child_), "process " + std::to_string(child_));
  }
  void the_holder_of_a_lock_is_found() {
    QTemporaryFile file;
    QVERIFY(file.open());
    const int fd = open(file.fileName().toUtf8(), O_RDONLY);
    QVERIFY(!lock_holder(fd));
    QCOMPARE(flock(fd, LOCK_EX), 0);
    QCOMPARE(lock_holder(fd).value_or(-1), getpid());
    QCOMPARE(flock(fd, LOCK_UN), 0);
    QVERIFY(!lock_holder(fd));
    ::close(fd);
  }
};

QTEST_APPLESS_MAIN(ProcessStateTest)
#include "process_state_test.moc"
