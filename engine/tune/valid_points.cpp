// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/valid_points.h"

namespace tw::tune {

/// Rejected points in a row after which a search takes a space for exhausted; some 0.5 s of work.
constexpr int64_t kMaxRejectedInARow = 200'000;

bool is_valid_point(const space::ConfigSpace& space, int64_t index) {
  const auto entity = space.get(index);
  TW_ASSERT(entity.has_value(), "a search asked for a point outside its space");
  return space.filtered_reason(*entity).empty();
}

int64_t usable_points(const space::ConfigSpace& space) {
  constexpr int64_t kCounted = 20'000;
  const int64_t size = space.num_points();
  if (size > kCounted) return size;
  int64_t count = 0;
  for (int64_t i = 0; i < size; ++i) {
    if (is_valid_point(space, space.point(i))) ++count;
  }
  return count;
}

std::vector<int64_t> fresh_points(const space::ConfigSpace& space, int n, const std::unordered_set<int64_t>& taken,
                                  const std::function<std::optional<int64_t>()>& next) {
  std::vector<int64_t> points;
  for (int64_t rejected = 0; static_cast<int>(points.size()) < n && rejected < kMaxRejectedInARow;) {
    const std::optional<int64_t> point = next();
    if (!point) break;
    if (taken.contains(*point)) continue;
    if (is_valid_point(space, *point)) {
      points.push_back(*point);
      rejected = 0;
    } else {
      ++rejected;
    }
  }
  return points;
}

int64_t fresh_random_point(const space::ConfigSpace& space, const std::unordered_set<int64_t>& taken, Rng& rng) {
  const int64_t size = space.num_points();
  if (size == 0 || static_cast<int64_t>(taken.size()) >= space.size()) return -1;
  constexpr int kDraws = 100;
  for (int i = 0; i < kDraws; ++i) {
    const int64_t point = space.point(rng.range(0, size - 1));
    if (!taken.contains(point) && is_valid_point(space, point)) return point;
  }
  const int64_t start = rng.range(0, size - 1);
  for (int64_t i = 0; i < std::min(size, kMaxRejectedInARow); ++i) {
    const int64_t point = space.point(start < size - i ? start + i : start + i - size);
    if (!taken.contains(point) && is_valid_point(space, point)) return point;
  }
  return -1;
}

}  // namespace tw::tune
