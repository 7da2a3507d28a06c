// SPDX-License-Identifier: Apache-2.0
#include "engine/process/wake.h"

#include <sys/resource.h>

#include <QtTest>
#include <thread>

using namespace tw;
using namespace tw::process;

class WakeTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void a_stop_ends_a_wait() {
    StopSource stop;
    const StopFd fd(stop.get_token());
    std::vector<pollfd> fds{{fd.fd(), POLLIN, 0}};
    poll_until(fds, std::chrono::steady_clock::now() + in_seconds(0.01));
    QCOMPARE(fds[0].revents, short{0});
    std::thread stopper([&] { stop.request_stop(); });
    poll_until(fds, std::chrono::steady_clock::now() + in_seconds(60));
    stopper.join();
    QVERIFY(fds[0].revents != 0);
  }

  void a_stop_before_the_wait_counts_too() {
    StopSource stop;
    stop.request_stop();
    const StopFd fd(stop.get_token());
    std::vector<pollfd> fds{{fd.fd(), POLLIN, 0}};
    poll_until(fds, std::chrono::steady_clock::now() + in_seconds(60));
    QVERIFY(fds[0].revents != 0);
  }

  /// What is left of a wait is slept through to its end, not asked for again and again: nearly every wait gives the processor up.
  void short_waits_sleep() {
    const auto slept = [] {
      rusage use{};
      getrusage(RUSAGE_THREAD, &use);
      return use.ru_nvcsw;
    };
    const long before = slept();
    std::vector<pollfd> none;
    for (int k = 0; k < 40; ++k) poll_until(none, std::chrono::steady_clock::now() + in_seconds(0.001));
    QVERIFY2(slept() - before >= 20, QByteArray::number(static_cast<int>(slept() - before)));
  }
};

QTEST_APPLESS_MAIN(WakeTest)
#include "wake_test.moc"
