// SPDX-License-Identifier: Apache-2.0
#include "engine/process/subprocess.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "engine/base/text.h"
#include "engine/process/find_program.h"

extern char** environ;

namespace tw::process {
namespace {

constexpr int kResultDescriptor = 3;

Error system_error(const char* what, int number) { return Error(ErrorCode::infrastructure, fmt::format("Cannot {}: {}", what, std::strerror(number))); }

}  // namespace

Expected<Subprocess> start_self(const std::vector<std::string>& arguments) {
  TW_TRY(const std::string program, own_path());
  return start_program(program, arguments);
}

Expected<Subprocess> start_program(const std::string& program, const std::vector<std::string>& arguments) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0) return system_error("make a pipe", errno);
  if (pipe2(out, O_CLOEXEC) != 0) {
    const int number = errno;
    close(in[0]), close(in[1]);
    return system_error("make a pipe", number);
  }
  // Descriptor 3 may be one of the pipe's own ends, which dup2 would then leave close-on-exec; a high number never is.
  const int result = fcntl(out[1], F_DUPFD_CLOEXEC, 64);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, result, kResultDescriptor);
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  // A group of its own: Ctrl-C reaches the parent only, which then ends the child.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  Subprocess child;
  const int failed = posix_spawnp(&child.pid, program.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(in[0]), close(out[1]), close(result);
  child.to = in[1];
  child.from = out[0];
  if (failed != 0) {
    close(child.to), close(child.from);
    return system_error("start a child process", failed);
  }
  return child;
}

int end_subprocess(Subprocess& child) {
  if (child.to >= 0) close(child.to);
  if (child.from >= 0) close(child.from);
  child.to = child.from = -1;
  int status = 0;
  if (child.pid > 0) {
    kill(child.pid, SIGKILL);
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  child.pid = -1;
  return status;
}

std::string status_text(int wait_status) {
  if (WIFSIGNALED(wait_status)) return fmt::format("was killed by signal {} ({})", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
  return fmt::format("ended with code {}", WEXITSTATUS(wait_status));
}

void become_child() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

Expected<int> run_self(const std::vector<std::string>& arguments, StopToken stop, std::optional<double> seconds) {
  TW_TRY(Subprocess child, start_self(arguments));
  const auto start = std::chrono::steady_clock::now();
  int status = 0;
  for (;;) {
    const pid_t done = waitpid(child.pid, &status, WNOHANG);
    if (done == child.pid) break;
    if (done < 0 && errno != EINTR) return system_error("wait for a child process", errno);
    const bool late = seconds && std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >= *seconds;
    if (late || stop.stop_requested()) {
      end_subprocess(child);
      return late ? Error(ErrorCode::timeout, fmt::format("The child process takes more than {:.0f} s", *seconds)) : Error(ErrorCode::cancelled, "Cancelled");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  child.pid = -1;
  end_subprocess(child);
  if (WIFSIGNALED(status)) return Error(ErrorCode::crash, fmt::format("The child process {}", status_text(status)));
  return WEXITSTATUS(status);
}

}  // namespace tw::process
