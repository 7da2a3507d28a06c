// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/plan_memory.h"

#include <algorithm>
#include <numeric>

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

}  // namespace

StoragePlan plan_memory(std::span<const StorageRequest> requests, int64_t alignment) {
  const auto aligned = [&](int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return requests[a].bytes > requests[b].bytes; });
  StoragePlan plan;
  plan.offsets.assign(requests.size(), 0);
  std::vector<Placed> placed;
  for (const size_t r : order) {
    const StorageRequest& q = requests[r];
    TW_ASSERT(q.bytes >= 0 && q.first <= q.last, "a storage request");
    const int64_t bytes = aligned(q.bytes), begin = best_gap(placed, bytes, q.first, q.last);
    const Placed p{begin, begin + bytes, q.first, q.last};
    placed.insert(std::upper_bound(placed.begin(), placed.end(), p, [](const Placed& a, const Placed& b) { return a.begin < b.begin; }), p);
    plan.offsets[r] = begin;
    plan.arena_bytes = std::max(plan.arena_bytes, p.end);
    plan.unplanned_bytes += bytes;
  }
  return plan;
}

}  // namespace tw::graph
