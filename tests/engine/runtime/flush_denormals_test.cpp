// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/flush_denormals.h"

#include <QtTest>
#include <limits>
#include <mutex>
#include <thread>

#include "engine/runtime/thread_pool.h"

using tw::runtime::FlushDenormals;
using tw::runtime::ThreadPool;

namespace {

/// Of factors that no compiler knows.
float product(float a, float b) {
  volatile float x = a, y = b;
  return x * y;
}

constexpr float kTiny = std::numeric_limits<float>::denorm_min();

}  // namespace

class FlushDenormalsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void results_and_operands_while_it_lives() {
    QVERIFY(product(1e-30F, 1e-10F) > 0);
    QVERIFY(product(kTiny, 1e30F) > 0);
    {
      const FlushDenormals flush;
      QCOMPARE(product(1e-30F, 1e-10F), 0.0F);
      QCOMPARE(product(kTiny, 1e30F), 0.0F);
      QVERIFY(product(1e-30F, 1e-7F) > 0);  // a normal number
    }
    QVERIFY(product(1e-30F, 1e-10F) > 0);
  }

  /// The caller's thread keeps its own mode.
  void in_the_workers_of_a_pool() {
    struct Found {
      std::mutex mutex;
      std::thread::id caller = std::this_thread::get_id();
      int workers = 0, wrong = 0;
    } found;
    ThreadPool pool(3, false);
    pool.api()->parallel_for(
        pool.api()->ctx, 3,
        [](void* closure, int64_t, int64_t) {
          auto& f = *static_cast<Found*>(closure);
          const bool worker = std::this_thread::get_id() != f.caller, zero = product(1e-30F, 1e-10F) == 0;
          const std::lock_guard lock(f.mutex);
          f.workers += worker ? 1 : 0;
          f.wrong += worker != zero ? 1 : 0;
        },
        &found);
    QCOMPARE(found.workers, 2);
    QCOMPARE(found.wrong, 0);
  }
};

QTEST_APPLESS_MAIN(FlushDenormalsTest)
#include "flush_denormals_test.moc"
