// SPDX-License-Identifier: Apache-2.0
#include "engine/space/rules/access.h"
#include "engine/space/rules/rules.h"

namespace tw::space::rules {

using schedule::Builder;
using schedule::Stage;

namespace {

/// True if neighbouring outputs along `axis` read elements that are not neighbours: a vector would have to gather them, slower than scalar loads.
bool gathers(const Builder& b, int stage, int axis) {
  for (const Read& r : reads_of(schedule::whole_body(b.all(), stage), {b.at(stage).op.axes[static_cast<size_t>(axis)]}))
    if (!r.strides[0] || *r.strides[0] < 0 || *r.strides[0] > kShortStride) return true;
  return false;
}

/// Inside the reduction loops: the tiled axis written out, the run as one vector. -1 where there is none.
void schedule_tile(Builder& b, int stage, int tiled, int run) {
  std::vector<ir::Var> order, inner;
  const std::vector<ir::Var> loops = b.loops(stage);
  for (int d = 0; d < static_cast<int>(loops.size()); ++d)
    if (d != tiled && d != run) order.push_back(loops[static_cast<size_t>(d)]);
  if (tiled >= 0) order.push_back(loops[static_cast<size_t>(tiled)]);
  if (run >= 0) order.push_back(loops[static_cast<size_t>(run)]);
  b.reorder(stage, order);
  if (tiled >= 0) b.unroll(stage, loops[static_cast<size_t>(tiled)]);
  if (run >= 0) b.vectorize(stage, loops[static_cast<size_t>(run)]);
}

}  // namespace

int schedule_reduction(Builder& b, int stage, const Target& target, const Choices& how) {
  const int64_t lanes = target.lanes(b.at(stage).op.output->dtype), work = iterations(b.at(stage).op);
  const Contiguous run = contiguous(b.at(stage));
  const bool scalar = run.axis < 0 || (b.at(stage).layout.empty() && gathers(b, stage, run.axis));
  const int64_t v = scalar ? 1 : vector_length(run.length, lanes);
  // The second axis of the tile: the first other one that divides, channels for the operators of networks.
  int tiled = -1;
  for (size_t d = 0; tiled < 0 && d < b.at(stage).op.axes.size(); ++d)
    if (static_cast<int>(d) != run.axis && b.at(stage).op.axes[d].extent % how.accumulators == 0) tiled = static_cast<int>(d);
  const int cache = b.cache_write(stage, "local");
  const int out = cache + 1;
  if (!b.at(out).layout.empty() && b.at(out).layout.back().factor > 0) whole_blocks(b, cache, run.axis, v);
  const std::vector<ir::Var> loops = b.loops(out);
  if (loops.empty()) return out;
  std::vector<ir::Var> walk = loops, inner;
  if (tiled >= 0) {
    const auto parts = b.split(out, loops[static_cast<size_t>(tiled)], {how.accumulators});
    walk[static_cast<size_t>(tiled)] = parts[0];
    inner.push_back(parts[1]);
    b.unroll(out, parts[1]);
  }
  if (v > 1) {
    const auto parts = b.split(out, loops[static_cast<size_t>(run.axis)], {v});
    walk[static_cast<size_t>(run.axis)] = parts[0];
    inner.push_back(parts[1]);
    b.vectorize(out, parts[1]);
  }
  std::vector<ir::Var> order = walk;
  order.insert(order.end(), inner.begin(), inner.end());
  b.reorder(out, order);
  b.compute_at(cache, out, walk.back());
  schedule_tile(b, cache, tiled, v > 1 ? run.axis : -1);
  // The loop that holds the tile stays a loop of its own when there are others.
  if (walk.size() > 1) walk.pop_back();
  parallelize(b, out, walk, work);
  return out;
}

}  // namespace tw::space::rules
