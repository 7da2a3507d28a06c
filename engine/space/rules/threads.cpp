// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/space/rules/access.h"
#include "engine/space/rules/rules.h"

namespace tw::space::rules {

using schedule::Annotation;
using schedule::Builder;

namespace {

constexpr int64_t kThreads = 256;
/// Elements that a reduction needs for the threads of a block to share it.
constexpr int64_t kSharedReduction = 2 * target::kWarp;

ir::Var joined(Builder& b, int stage, const std::vector<ir::Var>& loops) { return loops.size() > 1 ? b.fuse(stage, loops) : loops.front(); }

/// All results in one row, a thread each, in blocks of neighbours. Returns the loop of the threads.
ir::Var one_each(Builder& b, int stage) {
  const ir::Var all = joined(b, stage, b.loops(stage));
  const auto parts = b.split(stage, all, {std::min(kThreads, b.at(stage).op.output->num_elements())});
  b.bind(stage, parts[0], Annotation::block_x);
  b.bind(stage, parts[1], Annotation::thread_x);
  return parts[1];
}

/// A block for each result, whose threads add up parts of it.
void block_each(Builder& b, int stage) {
  const std::vector<ir::Var> loops = b.loops(stage);
  const auto axes = static_cast<std::ptrdiff_t>(b.at(stage).op.axes.size());
  int64_t length = 1;
  for (const te::Axis& a : b.at(stage).op.reduce_axes) length *= a.extent;
  int64_t threads = kThreads;
  while (threads > length) threads /= 2;
  const auto parts = b.split(stage, joined(b, stage, {loops.begin() + axes, loops.end()}), {threads});
  b.bind(stage, parts[1], Annotation::thread_x);
  if (axes > 0) b.bind(stage, joined(b, stage, {loops.begin(), loops.begin() + axes}), Annotation::block_x);
}

}  // namespace

int schedule_by_threads(Builder& b, int stage, const Target& target) {
  const te::Op& op = b.at(stage).op;
  if (op.reducer == te::Reducer::none) {
    if (!op.axes.empty()) one_each(b, stage);
    return stage;
  }
  const int64_t results = op.output->num_elements(), length = iterations(op) / std::max<int64_t>(1, results);
  if (op.axes.empty() || (length >= kSharedReduction && results < kThreads * target.gpu->multiprocessors)) {
    block_each(b, stage);
    return stage;
  }
  const int sum = b.cache_write(stage, "local");
  b.compute_at(sum, sum + 1, one_each(b, sum + 1));
  return sum + 1;
}

}  // namespace tw::space::rules
