// SPDX-License-Identifier: Apache-2.0
#include "engine/process/watched_fork.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <new>

#include "engine/base/clock.h"
#include "engine/process/child_process.h"

using namespace tw;
using namespace tw::process;

namespace {

constexpr ForkLimits kLimits{20, 20, 1 << 20};

Frame answer(const std::string& text, size_t payload = 0) { return {Json{{"text", text}}, std::vector<std::byte>(payload, std::byte{7})}; }

void begin_run(WatchedFork& fork, Phase phase = Phase::run) {
  fork.shared().run_start_ns = static_cast<int64_t>(clock_now_s(CLOCK_MONOTONIC) * 1e9);
  fork.shared().phase = phase;
}

/// What forks: a process of its own with a channel, as workers have. Says what went wrong by its exit code.
int forking(const std::string& mode) {
  WatchedFork fork;
  if (mode == "answers") {
    for (const size_t bytes : {size_t{0}, size_t{100}, size_t{900'000}}) {
      const auto end = fork.run(kLimits, [&] {
        if (::write(1, "said", 4) != 4) _exit(9);
        return answer("fine", bytes);
      });
      if (!end || !end->frame || end->frame->header["text"] != "fine" || end->frame->payload.size() != bytes || end->printed != "said") return 10;
      if (end->timed_out || end->abandoned || end->status != 0 || end->phase != Phase::setup) return 11;
    }
    return 0;
  }
  if (mode == "deaths") {
    const auto crashed = fork.run(kLimits, [&]() -> Frame {
      begin_run(fork);
      __builtin_trap();  // the first process of a namespace dies of no signal that it sends itself, but of a fault
    });
    if (!crashed || crashed->frame || crashed->phase != Phase::run || !WIFSIGNALED(crashed->status)) return 20;
    const auto left = fork.run(kLimits, []() -> Frame { _exit(5); });
    if (!left || left->frame || left->phase != Phase::setup || !WIFEXITED(left->status) || WEXITSTATUS(left->status) != 5) return 21;
    const auto full = fork.run(kLimits, []() -> Frame { throw std::bad_alloc(); });
    if (!full || !WIFEXITED(full->status) || WEXITSTATUS(full->status) != kExitOutOfMemory) return 22;
    return 0;
  }
  if (mode == "clocks") {
    const auto hangs = [&](bool running) {
      return fork.run({0.2, 0.2, 0}, [&, running]() -> Frame {
        if (running) begin_run(fork);
        for (;;) pause();
      });
    };
    const auto loading = hangs(false), running = hangs(true);
    if (!loading || !loading->timed_out || loading->phase != Phase::setup) return 30;
    if (!running || !running->timed_out || running->phase != Phase::run) return 31;
    const double start = clock_now_s(CLOCK_MONOTONIC);
    const auto slow = fork.run({30, 30, 0, 0.1}, [&]() -> Frame {
      begin_run(fork, Phase::first);
      for (;;) pause();
    });
    if (!slow || !slow->timed_out || slow->phase != Phase::first || clock_now_s(CLOCK_MONOTONIC) - start > 15) return 32;
    const auto begun = fork.run({30, 30, 0, 0.1}, [&] {
      begin_run(fork, Phase::first);
      fork.shared().phase = Phase::run;
      const timespec longer{0, 300'000'000};
      nanosleep(&longer, nullptr);
      return answer("fine");
    });
    if (!begun || begun->timed_out || !begun->frame) return 33;
    return 0;
  }
  return 1;
}

}  // namespace

class WatchedForkTest : public QObject {
  Q_OBJECT
  static Expected<std::unique_ptr<ChildProcess>> start(const char* mode) {
    return ChildProcess::start(QFileInfo("/proc/self/exe").symLinkTarget().toStdString(), {"forking", mode});
  }
  static void expect_fine(const char* mode) {
    auto made = start(mode);
    QVERIFY(made.has_value());
    std::vector<pollfd> fds{{(*made)->channel(), POLLIN, 0}};
    QTRY_VERIFY_WITH_TIMEOUT(poll(fds.data(), 1, 50) > 0, 60000);
    QCOMPARE((*made)->reap().text(), std::string("exit code 0"));
  }

 private Q_SLOTS:
  void answers_come_through() { expect_fine("answers"); }
  void deaths_are_told_apart() { expect_fine("deaths"); }
  void both_clocks_are_watched() { expect_fine("clocks"); }
};

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "forking") return forking(argv[2]);
  WatchedForkTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "watched_fork_test.moc"
