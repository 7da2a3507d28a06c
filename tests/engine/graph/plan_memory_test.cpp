// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/plan_memory.h"

#include <QtTest>

#include "engine/base/rng.h"

using namespace tw;
using namespace tw::graph;

class PlanMemoryTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void chainNeedsTwoArrays() {
    // a -> b -> c -> d: only neighbours are alive together.
    const std::vector<StorageRequest> r = {{100, 0, 1}, {100, 1, 2}, {100, 2, 3}, {100, 3, 3}};
    const StoragePlan p = plan_memory(r);
    QCOMPARE(p.unplanned_bytes, int64_t{512});
    QCOMPARE(p.arena_bytes, int64_t{256});
  }

  void residualIsKept() {
    const std::vector<StorageRequest> r = {{64, 0, 3}, {64, 1, 2}, {64, 2, 3}};
    QCOMPARE(plan_memory(r).arena_bytes, int64_t{192});
  }

  void emptyAndZero() {
    QCOMPARE(plan_memory({}).arena_bytes, int64_t{0});
    const std::vector<StorageRequest> r = {{0, 0, 0}};
    QCOMPARE(plan_memory(r).arena_bytes, int64_t{0});
  }

  void orderOfTimeWhereSizeIsWorse() {
    // Largest first puts the two middle arrays where they part the free space; the lower bound is reached in another order.
    const std::vector<StorageRequest> r = {{192, 0, 1}, {128, 1, 2}, {128, 2, 3}, {192, 3, 4}, {64, 0, 2}, {64, 2, 4}};
    const StoragePlan p = plan_memory(r);
    QCOMPARE(p.arena_bytes, p.live_bytes);
  }

  void liveArraysNeverOverlap() {
    Rng rng(7);
    for (int round = 0; round < 300; ++round) {
      std::vector<StorageRequest> r(static_cast<size_t>(rng.range(1, 60)));
      for (StorageRequest& q : r) {
        q.bytes = rng.range(1, 4000);
        q.first = static_cast<int>(rng.range(0, 40));
        q.last = q.first + static_cast<int>(rng.range(0, 8));
      }
      const StoragePlan p = plan_memory(r);
      int64_t needed = 0;  // no plan can be smaller than what one step holds
      for (int step = 0; step < 50; ++step) {
        int64_t alive = 0;
        for (const StorageRequest& q : r)
          if (q.first <= step && step <= q.last) alive += (q.bytes + 63) / 64 * 64;
        needed = std::max(needed, alive);
      }
      QCOMPARE(p.live_bytes, needed);
      QVERIFY(p.arena_bytes >= needed && p.arena_bytes <= p.unplanned_bytes);
      for (size_t i = 0; i < r.size(); ++i) {
        QCOMPARE(p.offsets[i] % 64, int64_t{0});
        QVERIFY(p.offsets[i] >= 0 && p.offsets[i] + r[i].bytes <= p.arena_bytes);
        for (size_t j = 0; j < i; ++j) {
          const bool together = r[i].first <= r[j].last && r[j].first <= r[i].last;
          const bool overlap = p.offsets[i] < p.offsets[j] + r[j].bytes && p.offsets[j] < p.offsets[i] + r[i].bytes;
          QVERIFY(!(together && overlap));
        }
      }
    }
  }
};

QTEST_APPLESS_MAIN(PlanMemoryTest)
#include "plan_memory_test.moc"
