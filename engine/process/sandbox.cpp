// SPDX-License-Identifier: Apache-2.0
#include "engine/process/sandbox.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "engine/process/child_process.h"

namespace tw::process {

namespace {
constexpr long kMostFds = 65536;
}

Sandbox::Sandbox() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

const char* Sandbox::name() const {
  switch (kind_) {
    case Kind::pid_namespace:
      return "PID namespace";
    case Kind::user_namespace:
      return "PID namespace in a user namespace";
    case Kind::subreaper:
      return "reaper of orphans";
  }
  return "";
}

bool has_ended(const ForkedChild& child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child.pid;
}

long Sandbox::clone_process(int& pidfd) {
  uint64_t flags = CLONE_PIDFD;
  if (kind_ == Kind::pid_namespace) flags |= CLONE_NEWPID;
  if (kind_ == Kind::user_namespace) flags |= CLONE_NEWPID | CLONE_NEWUSER;
  if (call_ == Call::clone3) {
    clone_args args;
    std::memset(&args, 0, sizeof args);
    args.flags = flags;
    args.pidfd = reinterpret_cast<uint64_t>(&pidfd);
    args.exit_signal = SIGCHLD;
    return syscall(SYS_clone3, &args, sizeof args);
  }
  if (call_ == Call::clone) return syscall(SYS_clone, flags | SIGCHLD, nullptr, &pidfd, nullptr, nullptr);
  const pid_t pid = ::fork();
  if (pid > 0) pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  return pid;
}

ForkedChild Sandbox::fork() {
  for (;;) {
    int pidfd = -1;
    const long pid = clone_process(pidfd);
    if (pid == 0) return {0, -1};
    if (pid > 0) return {static_cast<pid_t>(pid), pidfd};
    if (call_ == Call::fork || errno == EAGAIN || errno == ENOMEM) return {};
    // Not permitted here: less isolation, then an older call.
    if (kind_ != Kind::subreaper && errno != ENOSYS) {
      kind_ = kind_ == Kind::pid_namespace ? Kind::user_namespace : Kind::subreaper;
    } else if (call_ == Call::clone3) {
      kind_ = Kind::pid_namespace;
      call_ = Call::clone;
    } else {
      kind_ = Kind::subreaper;
      call_ = Call::fork;
    }
  }
}

int Sandbox::kill_and_wait(const ForkedChild& child) {
  ::kill(-child.pid, SIGKILL);
  ::kill(child.pid, SIGKILL);
  return wait(child);
}

int Sandbox::wait(const ForkedChild& child) {
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (child.pidfd >= 0) ::close(child.pidfd);
  hunt_orphans();
  return status;
}

void Sandbox::hunt_orphans() {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/children", static_cast<int>(::getpid()));
  for (int round = 0; round < 1000; ++round) {
    std::FILE* f = std::fopen(path, "re");
    if (f == nullptr) return;
    int pid = 0;
    bool any = false;
    while (std::fscanf(f, "%d", &pid) == 1) {
      any = true;
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    std::fclose(f);
    if (!any) return;
  }
}

void enter_child(int result_fd, int output_fd) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd parent{result_fd, 0, 0};
  if (::poll(&parent, 1, 0) == 1 && (parent.revents & POLLERR) != 0) _exit(0);  // it died before the line above
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(null, 0);
  ::dup2(output_fd, 1);
  ::dup2(output_fd, 2);
  ::dup2(result_fd, kChannelFd);
  if (close_range(kChannelFd + 1, ~0U, 0) == 0) return;
  const long most = sysconf(_SC_OPEN_MAX);
  for (int fd = kChannelFd + 1; fd < std::min(most, kMostFds); ++fd) ::close(fd);
}

}  // namespace tw::process
