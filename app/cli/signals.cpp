// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "app/cli/common.h"

namespace tw::cli {
namespace {

constexpr int kGraceMs = 900;  ///< from the first signal to the end of the process

StopSource g_stop;
std::atomic<int> g_signals{0};
int g_wake = -1;

void on_signal(int) {
  if (g_signals.fetch_add(1) > 0) _exit(kCancelled);
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(g_wake, &one, sizeof one);
}

/// Stop tokens may not be touched in a signal handler, so a thread of its own does it.
void watch() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pollfd p{g_wake, POLLIN, 0};
  while (poll(&p, 1, -1) < 0) {
  }
  g_stop.request_stop();
  std::this_thread::sleep_for(std::chrono::milliseconds(kGraceMs));
  _exit(kCancelled);
}

}  // namespace

void install_signal_handlers() {
  g_wake = eventfd(0, EFD_CLOEXEC);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction before = {};
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // nohup stays in force
  std::thread(watch).detach();
}

void outlive_terminal() { signal(SIGHUP, SIG_IGN); }

StopToken stop_token() { return g_stop.get_token(); }

}  // namespace tw::cli
