// SPDX-License-Identifier: Apache-2.0
#include "app/cli/console.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "app/cli/common.h"

namespace tw::cli {
namespace {

constexpr size_t kBuffer = size_t{64} << 10;
/// What a pipe that polls as writable takes without blocking.
constexpr size_t kPiece = 4096;
constexpr int kPatienceMs = 1000;

struct Results {
  std::string buffer;
  bool any = false;  ///< something was to be printed
  int lost = 0;      ///< errno of the first failure
};
Results& results() {
  static Results r;
  return r;
}

/// Waits until `fd` takes more, at most `timeout_ms` (-1: for ever). False if it does not, or is in trouble; what is wrong then shows when it is written to.
bool writable(int fd, int timeout_ms) {
  pollfd p{fd, POLLOUT, 0};
  int n = 0;
  while ((n = ::poll(&p, 1, timeout_ms)) < 0 && errno == EINTR) {
  }
  return n > 0;
}

/// 0 or the error. Gives up where the reader stays away for `timeout_ms`.
int write_all(int fd, std::string_view text, int timeout_ms) {
  while (!text.empty()) {
    if (!writable(fd, timeout_ms)) return EAGAIN;
    const ssize_t n = ::write(fd, text.data(), std::min(text.size(), kPiece));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return errno;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

}  // namespace

void open_console() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    [[maybe_unused]] const int null = ::open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);  // takes the lowest number that is free
    if (fd == 1) results().lost = EBADF;
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

void put(std::string_view text) noexcept {
  Results& r = results();
  r.any = r.any || !text.empty();
  if (r.buffer.size() + text.size() > kBuffer) flush_results();
  if (text.size() > kBuffer) {
    if (const int error = write_all(STDOUT_FILENO, text, -1); error != 0 && r.lost == 0) r.lost = error;
    return;
  }
  r.buffer += text;
}

void flush_results() noexcept {
  Results& r = results();
  if (r.buffer.empty()) return;
  if (const int error = write_all(STDOUT_FILENO, r.buffer, -1); error != 0 && r.lost == 0) r.lost = error;
  r.buffer.clear();
}

int close_console(int code) noexcept {
  flush_results();
  const Results& r = results();
  if (r.lost == 0 || !r.any) return code;
  say(fmt::format("error: Not all results could be written to standard output: {}\n", r.lost == EBADF ? "it is closed" : std::strerror(r.lost)));
  return code == kDone ? kFailed : code;
}

void say(std::string_view text) noexcept {
  static std::atomic<bool> stalled{false};  // whoever let us wait once is not waited for again
  stalled = write_all(STDERR_FILENO, text, stalled ? 0 : kPatienceMs) == EAGAIN;
}

void show(std::string_view text) noexcept { write_all(STDERR_FILENO, text, 0); }

}  // namespace tw::cli
