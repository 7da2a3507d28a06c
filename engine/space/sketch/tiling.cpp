// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/space/sketch/rule.h"

namespace tw::space {

using te::AxisKind;

namespace {

const std::string& structure(const SketchState& s) { return s.target().gpu ? s.options().gpu_structure : s.options().cpu_structure; }

/// The loop of that axis comes last among those of its level.
void make_innermost(std::vector<int>& level, int axis) { std::rotate(level.begin() + axis, level.begin() + axis + 1, level.end()); }

int levels_of(const std::string& structure, char letter) { return static_cast<int>(std::count(structure.begin(), structure.end(), letter)); }

}  // namespace

std::vector<int> tile(SketchState& s, int stage) {
  const std::string& letters = structure(s);
  const int spatial_levels = levels_of(letters, 'S'), reduce_levels = levels_of(letters, 'R');
  std::vector<int> splits;
  std::vector<std::vector<int>> spatial(static_cast<size_t>(spatial_levels)), reduce(static_cast<size_t>(reduce_levels));
  int at = 0;
  while (at < static_cast<int>(s.stage(stage).iters.size())) {
    const bool is_spatial = s.stage(stage).iters[static_cast<size_t>(at)].kind == AxisKind::spatial;
    const int levels = is_spatial ? spatial_levels : reduce_levels;
    if (levels > 1) {
      const int step = s.open_split(stage, at, levels);
      if (is_spatial) splits.push_back(step);
    }
    for (int level = 0; level < levels; ++level) (is_spatial ? spatial : reduce)[static_cast<size_t>(level)].push_back(at + level);
    at += std::max(levels, 1);
  }
  const int blocked = blocked_axis(s, stage);
  if (blocked >= 0) make_innermost(spatial.back(), blocked);
  schedule::ReorderStep order{stage, {}};
  size_t s_level = 0, r_level = 0;
  for (const char c : letters) {
    const std::vector<int>& level = c == 'S' ? spatial[s_level++] : reduce[r_level++];
    order.order.insert(order.order.end(), level.begin(), level.end());
  }
  s.apply(order);
  s.tiled({s.stage(stage).op.name, splits, splits.empty() ? -1 : splits[blocked >= 0 ? static_cast<size_t>(blocked) : splits.size() - 1]});
  return splits;
}

void follow_tiling(SketchState& s, int consumer, const std::vector<int>& splits, int level) {
  const int blocked = blocked_axis(s, consumer);
  std::vector<std::vector<int>> levels(static_cast<size_t>(level) + 1);
  std::vector<int> rest;
  int at = 0;
  size_t axis = 0;
  while (at < static_cast<int>(s.stage(consumer).iters.size())) {
    if (s.stage(consumer).iters[static_cast<size_t>(at)].kind == AxisKind::reduce) {
      rest.push_back(at++);
      continue;
    }
    s.apply(schedule::FollowSplitStep{consumer, at, splits.at(axis++), level});
    for (std::vector<int>& l : levels) l.push_back(at++);
  }
  if (blocked >= 0) make_innermost(levels.back(), blocked);
  schedule::ReorderStep order{consumer, {}};
  for (const std::vector<int>& l : levels) order.order.insert(order.order.end(), l.begin(), l.end());
  order.order.insert(order.order.end(), rest.begin(), rest.end());
  s.apply(order);
}

}  // namespace tw::space
