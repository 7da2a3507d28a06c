// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/run_waits.h"

#include <sched.h>

#include <QtTest>
#include <atomic>
#include <chrono>
#include <thread>

using namespace tw::measure;

class RunWaitsTest : public QObject {
  Q_OBJECT

  static void stay_on(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    QCOMPARE(sched_setaffinity(0, sizeof set, &set), 0);
  }
  static void spin(double seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end) {
    }
  }

 private Q_SLOTS:
  /// Two busy threads on one processor: half of the time one of them waits.
  void threads_that_share_a_processor_wait() {
    std::atomic<bool> begin{false}, end{false};
    cpu_set_t allowed;
    QCOMPARE(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    const int here = sched_getcpu();
    std::thread other([&] {
      stay_on(here);
      while (!begin) std::this_thread::yield();
      while (!end) spin(1e-3);
    });
    stay_on(here);
    const RunWaits waits;
    const int64_t before = waits.total_ns();
    QVERIFY(before >= 0);
    begin = true;
    spin(0.2);
    const int64_t waited = waits.total_ns() - before;
    end = true;
    other.join();
    QCOMPARE(sched_setaffinity(0, sizeof allowed, &allowed), 0);
    QVERIFY2(waited > 50'000'000, QByteArray::number(static_cast<qint64>(waited)));
  }
};

QTEST_APPLESS_MAIN(RunWaitsTest)
#include "run_waits_test.moc"
