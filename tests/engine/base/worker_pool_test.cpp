// SPDX-License-Identifier: Apache-2.0
#include "engine/base/worker_pool.h"

#include <QtTest>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "engine/base/rng.h"

using namespace tw;

class WorkerPoolTest : public QObject {
  Q_OBJECT

  static void thread_counts() {
    QTest::addColumn<int>("threads");
    for (const int threads : {1, 2, 4, 9}) QTest::newRow(std::to_string(threads).c_str()) << threads;
  }

 private Q_SLOTS:
  void everyTaskOnce_data() { thread_counts(); }
  void everyTaskOnce() {
    QFETCH(int, threads);
    WorkerPool pool(threads);
    QCOMPARE(pool.threads(), threads);
    for (const size_t count : {size_t{0}, size_t{1}, size_t{3}, size_t{1000}}) {
      std::vector<std::atomic<int>> calls(count);
      QVERIFY(pool.run(count, [&](size_t i) { ++calls[i]; }));
      for (const auto& c : calls) QCOMPARE(c.load(), 1);
    }
  }

  void theSameResultsHoweverManyThreads_data() { thread_counts(); }
  void theSameResultsHoweverManyThreads() {
    QFETCH(int, threads);
    constexpr size_t kTasks = 500;
    const auto draw = [](WorkerPool& pool) {
      Rng rng(7);
      std::vector<Rng> own;
      for (size_t i = 0; i < kTasks; ++i) own.push_back(rng.split());
      return pool.map(kTasks, [&](size_t i) {
        Rng mine = own[i];
        uint64_t sum = i;
        for (uint64_t k = 0; k <= i % 17; ++k) sum += mine.uniform(1000);
        return sum;
      });
    };
    WorkerPool one(1), many(threads);
    QCOMPARE(draw(many), draw(one));
  }

  /// Two tasks of which each waits for the other: on one thread they would wait for ever.
  void tasksRunAtTheSameTime() {
    WorkerPool pool(2);
    std::atomic<int> arrived{0};
    QVERIFY(pool.run(2, [&](size_t) {
      ++arrived;
      while (arrived < 2) std::this_thread::yield();
    }));
  }

  void theCallerWorksToo() {
    WorkerPool pool(1);
    const auto ids = pool.map(4, [](size_t) { return std::this_thread::get_id(); });
    for (const auto& id : ids) QVERIFY(*id == std::this_thread::get_id());
  }

  void aStopBeginsNoOthers_data() { thread_counts(); }
  void aStopBeginsNoOthers() {
    QFETCH(int, threads);
    WorkerPool pool(threads);
    StopSource source;
    constexpr size_t kTasks = 1000;
    std::atomic<size_t> ran{0};
    const auto results = pool.map(
        kTasks,
        [&](size_t i) {
          ++ran;
          if (i == 10) source.request_stop();
          while (i > 10 && !source.stop_requested()) std::this_thread::yield();
          return i;
        },
        source.get_token());
    const auto have = static_cast<size_t>(std::count_if(results.begin(), results.end(), [](const auto& r) { return r.has_value(); }));
    QCOMPARE(have, ran.load());
    QVERIFY(have >= 11 && have <= 10 + static_cast<size_t>(threads));
    for (size_t i = 0; i <= 10; ++i) QCOMPARE(results[i], std::optional<size_t>(i));
    QVERIFY(!pool.run(1, [](size_t) {}, source.get_token()));
    QVERIFY(pool.run(0, [](size_t) {}, source.get_token()));  // nothing is missing
    QVERIFY(pool.run(1, [](size_t) {}));                      // it goes on for others
  }

  void exceptionsComeOut_data() { thread_counts(); }
  void exceptionsComeOut() {
    QFETCH(int, threads);
    WorkerPool pool(threads);
    for (int round = 0; round < 20; ++round) {
      try {
        pool.run(50, [](size_t i) {
          if (i >= 3) throw std::runtime_error(std::to_string(i));
        });
        QFAIL("nothing was thrown");
      } catch (const std::runtime_error& e) {
        QCOMPARE(std::string(e.what()), std::string("3"));  // tasks are begun in order, so the third is never left out
      }
    }
    const auto results = pool.map(5, [](size_t i) { return i; });
    for (size_t i = 0; i < 5; ++i) QCOMPARE(results[i], std::optional<size_t>(i));
  }
};

QTEST_APPLESS_MAIN(WorkerPoolTest)
#include "worker_pool_test.moc"
