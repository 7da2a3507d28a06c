// SPDX-License-Identifier: Apache-2.0
#include "engine/process/child_process.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <QtTest>
#include <cerrno>

#include "engine/base/json.h"
#include "engine/process/handshake.h"
#include "engine/process/wake.h"
#include "tests/engine/process/processes.h"

using namespace tw;
using namespace tw::process;

namespace {

constexpr int kProtocol = 7;

/// The child: this program, started with a mode. It greets, prints, and answers frames until the channel ends.
int child(const std::string& mode) {
  printf("about to serve");
  fflush(stdout);
  if (!write_frame(kChannelFd, hello("echo", kProtocol))) return 1;
  if (mode == "grandchild" && fork() == 0) {
    for (;;) pause();
  }
  if (mode == "frozen") raise(SIGSTOP);
  for (;;) {
    const auto request = read_frame(kChannelFd);
    if (!request || !*request) return 5;
    if (mode == "crash") raise(SIGSEGV);
    if (!write_frame(kChannelFd, Json{{"got", (**request).header}, {"peer", peer_is_there()}}, (**request).payload)) return 1;
  }
}

Deadline soon() { return std::chrono::steady_clock::now() + in_seconds(10); }

Expected<Frame> next_frame(ChildProcess& process) {
  for (;;) {
    auto frame = process.receive();
    if (!frame) return frame.error();
    if (*frame) return std::move(**frame);
    std::vector<pollfd> fds{{process.channel(), POLLIN, 0}};
    poll_until(fds, soon());
    if (fds[0].revents == 0) return Error(ErrorCode::timeout, "nothing came");
  }
}

std::unique_ptr<ChildProcess> start(const char* mode) {
  auto made = ChildProcess::start(QFileInfo("/proc/self/exe").symLinkTarget().toStdString(), {"child", mode});
  return made ? std::move(*made) : nullptr;
}

}  // namespace

class ChildProcessTest : public QObject {
  Q_OBJECT
  std::string mark_ = test::mark_processes();

 private Q_SLOTS:
  void cleanup() { QVERIFY(test::wait_for_count(mark_, 0, 0, 2)); }

  void talks_on_its_channel() {
    const auto process = start("echo");
    QVERIFY(process != nullptr);
    const auto greeting = next_frame(*process);
    QVERIFY(greeting.has_value());
    QVERIFY(check_hello(*greeting, "echo", kProtocol).has_value());
    QVERIFY(check_hello(*greeting, "echo", kProtocol + 1).error().code == ErrorCode::version);
    QVERIFY(check_hello(*greeting, "measure", kProtocol).error().code == ErrorCode::parse_error);
    const std::vector<std::byte> payload(3 << 20, std::byte{7});  // more than a socket takes at once
    QVERIFY(process->send(Json{{"a", 1}}, payload, soon()).has_value());
    const auto answer = next_frame(*process);
    QVERIFY(answer.has_value() && answer->payload == payload);
    QVERIFY(answer->header["got"]["a"] == 1 && answer->header["peer"] == true);
    process->drain_output();
    QCOMPARE(process->printed(), std::string("about to serve"));
  }

  void says_how_it_ended() {
    auto process = start("crash");
    QVERIFY(next_frame(*process).has_value());
    QVERIFY(process->send(Json::object(), {}, soon()).has_value());
    QVERIFY(next_frame(*process).error().code == ErrorCode::crash);
    errno = EINTR;  // of some call before
    const ProcessEnd end = process->reap();
    QCOMPARE(end.text(), std::string("SIGSEGV"));
    QVERIFY(!end.killed_by_us);
    process = start("echo");
    QVERIFY(next_frame(*process).has_value());
    const ProcessEnd killed = process->kill();
    QVERIFY(killed.killed_by_us && killed.signal == SIGKILL);
  }

  void takes_what_it_started_along() {
    auto process = start("grandchild");
    QVERIFY(next_frame(*process).has_value());
    QVERIFY(test::wait_for_count(mark_, 2, 2, 5));
    process.reset();
    QVERIFY(test::wait_for_count(mark_, 0, 0, 2));
  }

  void one_that_takes_nothing_is_left_in_time() {
    auto process = start("frozen");
    QVERIFY(next_frame(*process).has_value());
    const std::vector<std::byte> payload(64 << 20);
    const auto sent = process->send(Json::object(), payload, std::chrono::steady_clock::now() + in_seconds(0.3));
    QVERIFY(!sent.has_value() && sent.error().code == ErrorCode::timeout);
  }

  void a_program_that_is_not_there_is_an_error() {
    const auto process = ChildProcess::start("/nonexistent/program", {});
    QVERIFY(!process.has_value() && process.error().code == ErrorCode::infrastructure);
  }
};

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "child") return child(argv[2]);
  ChildProcessTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "child_process_test.moc"
