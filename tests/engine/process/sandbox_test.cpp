// SPDX-License-Identifier: Apache-2.0
#include "engine/process/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>

#include "engine/process/child_process.h"
#include "engine/process/frame.h"
#include "engine/process/limits.h"
#include "tests/engine/process/processes.h"

using namespace tw;
using namespace tw::process;

namespace {

/// What forks: a process of its own, as the sandbox becomes the reaper of whatever is orphaned below it. Says what went wrong by its exit code.
int forking(const std::string& mode) {
  Sandbox sandbox;
  int pipe[2], output[2];
  if (pipe2(pipe, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) return 10;
  const ForkedChild child = sandbox.fork();
  if (child.pid < 0) return 11;
  if (child.pid == 0) {
    enter_child(pipe[1], output[1]);
    if (mode == "orphan") {
      if (::fork() == 0) {
        for (;;) pause();
      }
      _exit(write(kChannelFd, "x", 1) == 1 ? 0 : 1);
    }
    if (mode == "memory") {
      limit_this_process({.memory_bytes = int64_t{64} << 20});
      _exit(mmap(nullptr, size_t{256} << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? 42 : 0);
    }
    for (;;) pause();
  }
  close(pipe[1]);
  char byte = 0;
  int status = 0;
  if (mode == "orphan") {
    if (read(pipe[0], &byte, 1) != 1) return 12;
    status = sandbox.wait(child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && test::marked_processes(test::mark_processes()).empty() ? 0 : 13;
  }
  if (mode == "memory") {
    status = sandbox.wait(child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 42 ? 0 : 14;
  }
  status = sandbox.kill_and_wait(child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : 15;
}

}  // namespace

class SandboxTest : public QObject {
  Q_OBJECT
  std::string mark_ = test::mark_processes();

  void expect_fine(const char* mode) {
    auto made = ChildProcess::start(QFileInfo("/proc/self/exe").symLinkTarget().toStdString(), {"forking", mode});
    QVERIFY(made.has_value());
    std::vector<pollfd> fds{{(*made)->channel(), POLLIN, 0}};
    QTRY_VERIFY_WITH_TIMEOUT(poll(fds.data(), 1, 50) > 0, 10000);
    const ProcessEnd end = (*made)->reap();
    QCOMPARE(end.text(), std::string("exit code 0"));
    QVERIFY(test::wait_for_count(mark_, 0, 0, 2));
  }

 private Q_SLOTS:
  void ends_what_a_child_left_behind() { expect_fine("orphan"); }
  void kills() { expect_fine("kill"); }
  void limits_hold() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QSKIP("Sanitizers reserve terabytes of addresses");
#endif
    expect_fine("memory");
  }
};

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "forking") return forking(argv[2]);
  SandboxTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "sandbox_test.moc"
