// SPDX-License-Identifier: Apache-2.0
#include "engine/process/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/process/shared_memory.h"

extern char** environ;

namespace tw::process {

namespace {

constexpr size_t kPrintedLimit = size_t{64} << 10;
constexpr auto kReapPatience = std::chrono::seconds(1);

/// A descriptor that closes itself.
struct Fd {
  int value = -1;
  ~Fd() {
    if (value >= 0) ::close(value);
  }
  int release() { return std::exchange(value, -1); }
};

int milliseconds_until(Deadline deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left + 1, 0, 60000));
}

Error infrastructure(const std::string& doing) { return Error(ErrorCode::infrastructure, fmt::format("{} failed: {}", doing, std::strerror(errno))); }

/// posix_spawn's two parameter objects, destroyed together.
struct SpawnSetup {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnSetup() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

}  // namespace

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

std::string ProcessEnd::text() const { return signal != 0 ? signal_name(signal) : fmt::format("exit code {}", code); }

Expected<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::string& program, const std::vector<std::string>& arguments, int shared) {
  int pair[2], pipe[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return infrastructure("Making a channel to the worker");
  Fd ours{pair[0]}, theirs{pair[1]};
  if (::pipe2(pipe, O_CLOEXEC) != 0) return infrastructure("Making a pipe to the worker");
  Fd read_end{pipe[0]}, write_end{pipe[1]};
  // What never waits is not interrupted by signals either.
  ::fcntl(ours.value, F_SETFL, O_NONBLOCK);
  ::fcntl(read_end.value, F_SETFL, O_NONBLOCK);

  // The channel could sit on 0, 1 or 2 in a program started without them; a copy above all targets makes the order of the dup2 calls safe.
  Fd channel_copy{::fcntl(theirs.value, F_DUPFD_CLOEXEC, 10)}, output_copy{::fcntl(write_end.value, F_DUPFD_CLOEXEC, 10)};
  if (channel_copy.value < 0 || output_copy.value < 0) return infrastructure("Copying a descriptor for the worker");
  SpawnSetup setup;
  posix_spawn_file_actions_addopen(&setup.actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&setup.actions, output_copy.value, 1);
  posix_spawn_file_actions_adddup2(&setup.actions, output_copy.value, 2);
  posix_spawn_file_actions_adddup2(&setup.actions, channel_copy.value, kChannelFd);
  const Fd shared_copy{shared < 0 ? -1 : ::fcntl(shared, F_DUPFD_CLOEXEC, 10)};
  if (shared >= 0 && shared_copy.value < 0) return infrastructure("Copying a descriptor for the worker");
  if (shared >= 0) posix_spawn_file_actions_adddup2(&setup.actions, shared_copy.value, kSharedFd);
  posix_spawn_file_actions_addclosefrom_np(&setup.actions, (shared >= 0 ? kSharedFd : kChannelFd) + 1);  // what libraries of the calling program left open
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setflags(&setup.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&setup.attributes, 0);
  posix_spawnattr_setsigmask(&setup.attributes, &none);
  posix_spawnattr_setsigdefault(&setup.attributes, &all);

  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  if (const int code = ::posix_spawn(&pid, program.c_str(), &setup.actions, &setup.attributes, argv.data(), environ); code != 0) {
    return Error(ErrorCode::infrastructure, fmt::format("Starting the worker failed: {}", std::strerror(code)), program);
  }
  std::unique_ptr<ChildProcess> self(new ChildProcess());
  self->pid_ = pid;
  self->channel_ = ours.release();
  self->output_ = read_end.release();
  return self;
}

ChildProcess::~ChildProcess() { kill(); }

void ChildProcess::close_all() {
  if (channel_ >= 0) ::close(std::exchange(channel_, -1));
  if (output_ >= 0) {
    drain_output();
    if (output_ >= 0) ::close(std::exchange(output_, -1));
  }
}

Expected<void> ChildProcess::send(const Json& header, std::span<const std::byte> payload, Deadline deadline) {
  const std::vector<std::byte> bytes = encode_frame(header, payload);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::send(channel_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (n > 0) {
      done += static_cast<size_t>(n);
      continue;
    }
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return Error(ErrorCode::io_error, fmt::format("The worker is gone: {}", std::strerror(errno)));
    const int wait = milliseconds_until(deadline);
    if (wait == 0) return Error(ErrorCode::timeout, "The worker did not take a message in time");
    pollfd fds[2] = {{channel_, POLLOUT, 0}, {output_, POLLIN, 0}};
    ::poll(fds, 2, wait);
    if (fds[1].revents != 0) drain_output();
  }
  return {};
}

Expected<std::optional<Frame>> ChildProcess::receive() {
  auto ready = reader_.next();
  if (!ready || *ready) return ready;
  TW_TRY(const bool open, reader_.fill(channel_));
  ready = reader_.next();
  if (!ready || *ready) return ready;
  if (!open) return Error(ErrorCode::crash, "The worker closed its channel");
  return std::optional<Frame>();
}

void ChildProcess::drain_output() {
  char buffer[4096];
  for (;;) {
    if (output_ < 0) return;
    const ssize_t n = ::read(output_, buffer, sizeof buffer);
    if (n == 0) ::close(std::exchange(output_, -1));
    if (n <= 0) return;
    printed_.append(buffer, static_cast<size_t>(n));
    if (printed_.size() > 2 * kPrintedLimit) printed_.erase(0, printed_.size() - kPrintedLimit);
  }
}

ProcessEnd ChildProcess::wait_blocking(bool killed) {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  close_all();
  ProcessEnd end;
  end.killed_by_us = killed;
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.code = WEXITSTATUS(status);
  return end;
}

ProcessEnd ChildProcess::kill() {
  if (pid_ < 0) return {};
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);  // in case it left the group
  return wait_blocking(true);
}

ProcessEnd ChildProcess::reap() {
  if (pid_ < 0) return {};
  const auto give_up = std::chrono::steady_clock::now() + kReapPatience;
  while (std::chrono::steady_clock::now() < give_up) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_) {
      ::kill(-pid_, SIGKILL);  // whatever it started; the group exists until the process is waited for
      return wait_blocking(false);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return kill();
}

}  // namespace tw::process
