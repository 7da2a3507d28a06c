// SPDX-License-Identifier: Apache-2.0
#include "engine/process/sandbox.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <cerrno>
#include <cstddef>

#include "engine/process/child_process.h"
#include "engine/process/frame.h"
#include "engine/process/limits.h"
#include "tests/engine/process/processes.h"

using namespace tw;
using namespace tw::process;

namespace {

/// A system call that is refused from now on, if its first argument, masked, has a value; as containers do.
struct Refusal {
  long call;
  uint32_t mask, value;
  uint32_t error;
};
bool refuse(const std::vector<Refusal>& refusals) {
  std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const Refusal& r : refusals) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(r.call), 0, 5));
    code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])));  // the low half, on little-endian machines
    code.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, r.mask));
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, r.value, 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | r.error));
    code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// From nothing refused to almost everything.
const std::vector<std::vector<Refusal>>& levels() {
  constexpr uint32_t kNamespaces = CLONE_NEWPID | CLONE_NEWUSER;
  static const std::vector<std::vector<Refusal>> all = {
      {},
      {{SYS_clone3, 0, 0, ENOSYS}},
      {{SYS_clone3, 0, 0, ENOSYS}, {SYS_clone, CLONE_NEWPID, CLONE_NEWPID, EPERM}},
      {{SYS_clone3, 0, 0, EPERM}, {SYS_clone, kNamespaces, kNamespaces, EPERM}},
      {{SYS_clone3, 0, 0, ENOSYS}, {SYS_clone, CLONE_PIDFD, CLONE_PIDFD, EINVAL}, {SYS_close_range, 0, 0, ENOSYS}},
      {{SYS_clone3, 0, 0, ENOSYS}, {SYS_clone, CLONE_PIDFD, CLONE_PIDFD, EINVAL}, {SYS_pidfd_open, 0, 0, ENOSYS}},
  };
  return all;
}

/// What forks: a process of its own, as the sandbox becomes the reaper of whatever is orphaned below it. Says what went wrong by its exit code.
int forking(const std::string& mode, size_t level) {
  if (!levels()[level].empty() && !refuse(levels()[level])) return 9;
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
  if (level + 1 == levels().size() && child.pidfd >= 0) return 16;
  char byte = 0;
  int status = 0;
  if (mode == "orphan") {
    if (read(pipe[0], &byte, 1) != 1) return 12;
    for (int i = 0; i < 2000 && !has_ended(child); ++i) usleep(1000);
    if (!has_ended(child)) return 17;
    status = sandbox.wait(child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && test::marked_processes(test::mark_processes()).empty() ? 0 : 13;
  }
  if (mode == "memory") {
    status = sandbox.wait(child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 42 ? 0 : 14;
  }
  if (has_ended(child)) return 18;
  status = sandbox.kill_and_wait(child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : 15;
}

}  // namespace

class SandboxTest : public QObject {
  Q_OBJECT
  std::string mark_ = test::mark_processes();

  void expect_fine(const char* mode) {
    for (size_t level = 0; level < levels().size(); ++level) {
      auto made = ChildProcess::start(QFileInfo("/proc/self/exe").symLinkTarget().toStdString(), {"forking", mode, std::to_string(level)});
      QVERIFY(made.has_value());
      std::vector<pollfd> fds{{(*made)->channel(), POLLIN, 0}};
      QTRY_VERIFY_WITH_TIMEOUT(poll(fds.data(), 1, 50) > 0, 10000);
      const ProcessEnd end = (*made)->reap();
      QVERIFY2(end.text() == "exit code 0", qPrintable(QString("level %1: %2").arg(level).arg(QString::fromStdString(end.text()))));
      QVERIFY(test::wait_for_count(mark_, 0, 0, 2));
    }
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
  if (argc == 4 && std::string_view(argv[1]) == "forking") return forking(argv[2], std::stoul(argv[3]));
  SandboxTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "sandbox_test.moc"
