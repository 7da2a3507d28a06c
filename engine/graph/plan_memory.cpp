// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/plan_memory.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "engine/base/assert.h"

namespace tw::graph {

namespace {

struct Placed {
  int64_t begin, end;
  int first, last;
};

/// Start of the smallest gap of at least `bytes` between the arrays alive in [first, last], or the end of them all. `placed` is sorted by begin.
int64_t best_gap(const std::vector<Placed>& placed, int64_t bytes, int first, int last) {
  int64_t best = -1, best_size = 0, free_from = 0;
  for (const Placed& p : placed) {
    if (p.last < first || p.first > last) continue;
    const int64_t gap = p.begin - free_from;
    if (gap >= bytes && (best < 0 || gap < best_size)) {
      best = free_from;
      best_size = gap;
    }
    free_from = std::max(free_from, p.end);
  }
  return best < 0 ? free_from : best;
}

/// Places requests in this order.
StoragePlan place(std::span<const StorageRequest> requests, const std::vector<int64_t>& sizes, const std::vector<size_t>& order) {
  StoragePlan plan;
  plan.offsets.assign(requests.size(), 0);
  std::vector<Placed> placed;
  for (const size_t r : order) {
    const StorageRequest& q = requests[r];
    const int64_t begin = best_gap(placed, sizes[r], q.first, q.last);
    const Placed p{begin, begin + sizes[r], q.first, q.last};
    placed.insert(std::upper_bound(placed.begin(), placed.end(), p, [](const Placed& a, const Placed& b) { return a.begin < b.begin; }), p);
    plan.offsets[r] = begin;
    plan.arena_bytes = std::max(plan.arena_bytes, p.end);
  }
  return plan;
}

}  // namespace

StoragePlan plan_memory(std::span<const StorageRequest> requests, int64_t alignment) {
  std::vector<int64_t> sizes;
  int last = -1;
  for (const StorageRequest& q : requests) {
    TW_ASSERT(q.bytes >= 0 && q.first >= 0 && q.first <= q.last, "a storage request");
    sizes.push_back((q.bytes + alignment - 1) / alignment * alignment);
    last = std::max(last, q.last);
  }
  std::vector<int64_t> alive(static_cast<size_t>(last + 1), 0);
  for (size_t r = 0; r < requests.size(); ++r)
    for (int step = requests[r].first; step <= requests[r].last; ++step) alive[static_cast<size_t>(step)] += sizes[r];
  const int64_t bound = alive.empty() ? 0 : *std::max_element(alive.begin(), alive.end());
  std::vector<int64_t> fullest;  // of the steps that a request is alive in
  for (const StorageRequest& q : requests) fullest.push_back(*std::max_element(alive.begin() + q.first, alive.begin() + q.last + 1));

  std::vector<size_t> order(requests.size());
  const auto sorted_by = [&](auto key) {
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
    return order;
  };
  StoragePlan best = place(requests, sizes, sorted_by([&](size_t r) { return -sizes[r]; }));
  const auto attempt = [&](const std::vector<size_t>& o) {
    if (best.arena_bytes == bound) return;
    StoragePlan plan = place(requests, sizes, o);
    if (plan.arena_bytes < best.arena_bytes) best = std::move(plan);
  };
  attempt(sorted_by([&](size_t r) { return std::pair(-fullest[r], -sizes[r]); }));
  attempt(sorted_by([&](size_t r) { return std::tuple(requests[r].first, -sizes[r]); }));
  attempt(sorted_by([&](size_t r) { return std::tuple(requests[r].first - requests[r].last, -sizes[r]); }));
  best.live_bytes = bound;
  best.unplanned_bytes = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  return best;
}

}  // namespace tw::graph
