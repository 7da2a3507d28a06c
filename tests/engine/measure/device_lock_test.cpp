// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/device_lock.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>

using namespace tw::measure;

namespace {

/// A process that holds a device, of another user where that can be.
pid_t holder(const std::string& device) {
  int ready[2];
  if (pipe(ready) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0)) _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    DeviceLock lock(device);
    if (!lock.acquire([] { return true; }) || write(ready[1], "x", 1) != 1) _exit(2);
    for (;;) pause();
  }
  char byte = 0;
  const bool held = read(ready[0], &byte, 1) == 1;
  close(ready[0]), close(ready[1]);
  return held ? child : -1;
}

}  // namespace

class DeviceLockTest : public QObject {
  Q_OBJECT
  std::string device_ = "test-" + std::to_string(getpid());

 private Q_SLOTS:
  void cleanupTestCase() {
    for (const char* folder : {"/dev/shm", "/run/lock", "/tmp"}) QFile::remove(QString("%1/tilewright-measure-%2.lock").arg(folder, device_.c_str()));
  }

  void holds_for_every_user() {
    const pid_t other = holder(device_);
    QVERIFY(other > 0);
    DeviceLock lock(device_);
    QVERIFY2(lock.trouble().empty(), lock.trouble().c_str());
    int asked = 0;
    QVERIFY(!lock.acquire([&] { return ++asked < 20; }));
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
    QVERIFY(lock.acquire([] { return false; }));  // at once: who dies lets go
    lock.release();
  }
  void says_whom_it_waits_for() {
    const pid_t other = holder(device_);
    QVERIFY(other > 0);
    kill(other, SIGSTOP);
    DeviceLock lock(device_);
    std::vector<std::string> said;
    QVERIFY(!lock.acquire([&] { return said.size() < 2; }, [&](const std::string& who) { said.push_back(who); }));
    for (const std::string& who : said) {
      QVERIFY2(who.starts_with("process " + std::to_string(other) + " ("), who.c_str());
      QVERIFY(who.ends_with(", which is stopped"));
    }
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
  }
};

QTEST_APPLESS_MAIN(DeviceLockTest)
#include "device_lock_test.moc"
