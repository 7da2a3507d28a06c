// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/plan_memory.h"

#include <QtTest>
#include <array>
#include <numeric>

#include "engine/base/rng.h"

using namespace tw;
using namespace tw::graph;

namespace {

/// The arena when arrays are placed in an order, each in the smallest gap that holds it, said as plainly as can be: every place is tried.
int64_t arena_of(const std::vector<StorageRequest>& r, const std::vector<size_t>& order) {
  std::vector<std::pair<int64_t, size_t>> placed;
  int64_t arena = 0;
  const auto size = [&](size_t i) { return (r[i].bytes + 63) / 64 * 64; };
  for (const size_t i : order) {
    std::vector<std::pair<int64_t, int64_t>> taken;  // of what is alive with it
    for (const auto& [at, j] : placed)
      if (r[i].first <= r[j].last && r[j].first <= r[i].last) taken.emplace_back(at, at + size(j));
    int64_t best = -1, best_gap = 0, top = 0;
    for (const auto& [begin, end] : taken) top = std::max(top, end);
    for (int64_t at = 0; at < top; at += 64) {
      if (at > 0 && std::none_of(taken.begin(), taken.end(), [&](const auto& t) { return t.second == at; })) continue;
      if (std::any_of(taken.begin(), taken.end(), [&](const auto& t) { return t.first <= at && at < t.second; })) continue;
      int64_t next = top;
      for (const auto& [begin, end] : taken)
        if (begin >= at) next = std::min(next, begin);
      const int64_t gap = next - at;
      if (gap >= size(i) && (best < 0 || gap < best_gap)) best = at, best_gap = gap;
    }
    if (best < 0) best = top;
    placed.emplace_back(best, i);
    arena = std::max(arena, best + size(i));
  }
  return arena;
}

}  // namespace

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

  /// Each of the four orders is the best of some networks, and the plan is as small as the smallest.
  void everyOrderIsTried() {
    Rng rng(23);
    std::array<int, 4> alone{};
    for (int round = 0; round < 3000; ++round) {
      std::vector<StorageRequest> r(static_cast<size_t>(rng.range(4, 24)));
      for (StorageRequest& q : r) {
        q.bytes = 64 * rng.range(1, 12);
        q.first = static_cast<int>(rng.range(0, 12));
        q.last = q.first + static_cast<int>(rng.range(0, 6));
      }
      std::vector<int64_t> alive(32, 0), fullest;
      for (const StorageRequest& q : r)
        for (int t = q.first; t <= q.last; ++t) alive[static_cast<size_t>(t)] += q.bytes;
      for (const StorageRequest& q : r) fullest.push_back(*std::max_element(alive.begin() + q.first, alive.begin() + q.last + 1));
      const auto by = [&](auto key) {
        std::vector<size_t> order(r.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
        return arena_of(r, order);
      };
      const std::array<int64_t, 4> arenas{by([&](size_t i) { return std::pair<int64_t, int64_t>(-r[i].bytes, 0); }),
                                          by([&](size_t i) { return std::pair(-fullest[i], -r[i].bytes); }),
                                          by([&](size_t i) { return std::pair<int64_t, int64_t>(r[i].first, -r[i].bytes); }),
                                          by([&](size_t i) { return std::pair<int64_t, int64_t>(r[i].first - r[i].last, -r[i].bytes); })};
      const int64_t least = *std::min_element(arenas.begin(), arenas.end());
      QCOMPARE(plan_memory(r).arena_bytes, least);
      if (std::count(arenas.begin(), arenas.end(), least) == 1) ++alone[static_cast<size_t>(std::min_element(arenas.begin(), arenas.end()) - arenas.begin())];
    }
    for (const int times : alone) QVERIFY(times > 0);
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
