// SPDX-License-Identifier: Apache-2.0
#include "engine/process/watched_fork.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "engine/base/assert.h"
#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/process/child_process.h"
#include "engine/process/limits.h"
#include "engine/process/process_state.h"

namespace tw::process {

namespace {

constexpr size_t kShownLimit = 2000;
/// Whoever asked hears so often that this program still lives, in seconds.
constexpr double kSignOfLife = 1;
/// How often it looks whether the forked process has ended, where the system does not tell.
constexpr double kLookAgain = 0.005;

struct Pipe {
  int read = -1, write = -1;
  bool open() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return false;
    read = fds[0];
    write = fds[1];
    ::fcntl(read, F_SETFL, O_NONBLOCK);
    return true;
  }
  void close_write() {
    if (write >= 0) ::close(std::exchange(write, -1));
  }
  ~Pipe() {
    close_write();
    if (read >= 0) ::close(read);
  }
};

[[noreturn]] void child_main(const std::function<Frame()>& work, int result_fd, int output_fd) {
  enter_child(result_fd, output_fd);
  try {
    const Frame answer = work();
    _exit(write_frame(kChannelFd, answer.header, answer.payload) ? 0 : 1);
  } catch (const std::bad_alloc&) {
    _exit(kExitOutOfMemory);
  }
}

/// What comes out of the two pipes of a child.
class Reading {
 public:
  Reading(int result_fd, int output_fd, uint64_t max_payload) : result_(result_fd), output_(output_fd), reader_(max_payload + 4096) {}
  int result() const { return result_open_ ? result_ : -1; }
  int output() const { return output_open_ ? output_ : -1; }

  void read(ForkEnd& end) {
    char buffer[4096];
    for (ssize_t n = 1; output_open_ && n > 0;) {
      n = ::read(output_, buffer, sizeof buffer);
      if (n == 0) output_open_ = false;
      if (n > 0) end.printed.append(buffer, static_cast<size_t>(n));
      if (end.printed.size() > 2 * kShownLimit) end.printed.erase(0, end.printed.size() - kShownLimit);
    }
    if (!result_open_) return;
    const auto open = reader_.fill(result_);
    result_open_ = open && *open;
    if (end.frame) return;
    auto next = reader_.next();
    if (next) {
      end.frame = std::move(*next);
    } else {
      result_open_ = false;  // rubbish: there is no answer
    }
  }

 private:
  int result_, output_;
  FrameReader reader_;
  bool result_open_ = true, output_open_ = true;
};

void watch(const ForkedChild& child, const SharedPhase& shared, const ForkLimits& limits, Reading& reading, ForkEnd& end) {
  const double start = clock_now_s(CLOCK_MONOTONIC);
  const double last = start + limits.startup_s + limits.run_s;  // whatever the shared page says
  double sign_at = start + kSignOfLife;
  for (;;) {
    const double now = clock_now_s(CLOCK_MONOTONIC);
    const Phase phase = shared.phase.load();
    const bool running = phase >= Phase::first, limited = phase == Phase::first && limits.first_s > 0;
    const double run_s = limited ? std::min(limits.first_s, limits.run_s) : limits.run_s;
    const double limit = running ? 1e-9 * static_cast<double>(shared.run_start_ns.load()) + run_s : start + limits.startup_s;
    const double left = std::min(limit, last) - now;
    if (left <= 0) {
      end.timed_out = true;
      end.phase = phase;  // whose time is over, whatever it begins before it is killed
      return;
    }
    // What has not begun to run is looked at again soon, since its limit changes when it does.
    double wait = std::min(running ? left : std::min(left, std::max(0.01, (limits.first_s > 0 ? limits.first_s : limits.run_s) / 4)), kSignOfLife);
    if (child.pidfd < 0) wait = std::min(wait, kLookAgain);
    pollfd fds[4] = {{child.pidfd, POLLIN, 0}, {reading.result(), POLLIN, 0}, {reading.output(), POLLIN, 0}, {kChannelFd, POLLRDHUP, 0}};
    ::poll(fds, 4, static_cast<int>(wait * 1e3) + 1);
    if ((fds[3].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
      end.abandoned = true;
      return;
    }
    if (fds[0].revents != 0 || (child.pidfd < 0 && has_ended(child))) return;
    if (clock_now_s(CLOCK_MONOTONIC) >= sign_at) {
      sign_at += kSignOfLife;
      if (!write_frame(kChannelFd, Json{{"alive", true}})) {
        end.abandoned = true;
        return;
      }
    }
    if ((fds[1].revents | fds[2].revents) != 0) reading.read(end);
  }
}

}  // namespace

WatchedFork::WatchedFork() {
  void* p = ::mmap(nullptr, sizeof(SharedPhase), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  TW_ASSERT(p != MAP_FAILED, "no memory for a page");
  shared_ = new (p) SharedPhase();
}

Expected<ForkEnd> WatchedFork::run(const ForkLimits& limits, const std::function<Frame()>& work) {
  const auto failed = [](const char* doing) { return Error(ErrorCode::infrastructure, fmt::format("{} failed: {}", doing, std::strerror(errno))); };
  Pipe result, output;
  if (!result.open() || !output.open()) return failed("Making a pipe");
  shared_->phase = Phase::setup;
  shared_->run_start_ns = 0;
  const double asleep = clock_now_s(CLOCK_BOOTTIME) - clock_now_s(CLOCK_MONOTONIC);
  const auto kills = memory_kills();
  const ForkedChild child = sandbox_.fork();
  if (child.pid == 0) child_main(work, result.write, output.write);
  if (child.pid < 0) return failed("Forking a process");
  result.close_write();
  output.close_write();
  Reading reading(result.read, output.read, limits.max_payload);
  ForkEnd end;
  watch(child, *shared_, limits, reading, end);
  if (!end.timed_out) end.phase = shared_->phase;
  const auto state = end.timed_out ? state_of(child.pid) : std::nullopt;
  end.stopped = state && state->stopped;
  end.status = end.timed_out || end.abandoned ? sandbox_.kill_and_wait(child) : sandbox_.wait(child);
  reading.read(end);  // what it left behind
  if (!WIFEXITED(end.status) || WEXITSTATUS(end.status) != 0) end.frame.reset();
  const auto kills_now = memory_kills();
  end.out_of_memory = kills && kills_now && *kills_now > *kills;
  end.suspended_s = clock_now_s(CLOCK_BOOTTIME) - clock_now_s(CLOCK_MONOTONIC) - asleep;
  return end;
}

}  // namespace tw::process
