// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/arith/analyzer.h"
#include "engine/ir/visit.h"
#include "engine/space/template.h"

namespace tw::space {

namespace {

using schedule::Builder;
using schedule::Stage;

/// Below this many element operations a parallel region costs more than it saves (about 2 us of work per thread).
constexpr int64_t kParallelWork = 1 << 15;

/// Axis and length of the contiguous run in memory: the innermost piece of a layout, or the last dimension.
struct Contiguous {
  int axis = -1;
  int64_t length = 1;
};

Contiguous contiguous(const Stage& st) {
  if (st.op.axes.empty()) return {};
  if (!st.layout.empty())
    return {st.layout.back().dim, st.layout.back().factor ? st.layout.back().factor : st.op.axes[static_cast<size_t>(st.layout.back().dim)].extent};
  return {static_cast<int>(st.op.axes.size()) - 1, st.op.axes.back().extent};
}

/// True if every read is at the stage's own position, so that all axes may be walked as one.
bool reads_in_place(const Stage& st) {
  bool in_place = true;
  ir::walk(*st.op.body, [&](const ir::Expr& e) {
    const auto* l = ir::as<ir::LoadNode>(e);
    if (!l) return;
    in_place = in_place && l->indices.size() == st.op.axes.size();
    for (size_t k = 0; in_place && k < l->indices.size(); ++k)
      in_place = l->indices[k].get() == st.op.axes[k].var.get() && l->buffer->shape[k] == st.op.output->shape[k];
  });
  bool uses_position = false;  // a body that computes with the indices themselves would need them taken apart
  ir::walk(*st.op.body, [&](const ir::Expr& e) { uses_position = uses_position || ir::as<ir::SelectNode>(e); });
  return in_place && !uses_position;
}

int64_t work_of(const Stage& st) {
  int64_t n = 1;
  for (const te::Axis& a : st.op.axes) n *= a.extent;
  for (const te::Axis& a : st.op.reduce_axes) n *= a.extent;
  return n;
}

/// Vector length for a run of `length` elements: one that divides it and fills at least half a register (powers of two first, they are one load),
/// else the whole run if it is shorter than a register, else full registers with a tail.
int64_t vector_length(int64_t length, int64_t lanes) {
  for (int64_t v = lanes; v >= std::max<int64_t>(2, lanes / 2); v /= 2)
    if (length % v == 0) return v;
  for (int64_t v = lanes; v >= lanes / 2 && v > 1; --v)
    if (length % v == 0) return v;
  return std::clamp<int64_t>(length, 1, lanes);
}

/// Vectors of neighbouring outputs that a reduction sums side by side: enough to hide the latency of a multiply-add.
constexpr int64_t kAccumulators = 4;

void parallelize(Builder& b, int stage, const std::vector<ir::Var>& outer) {
  if (outer.empty() || work_of(b.at(stage)) < kParallelWork) return;
  b.parallel(stage, outer.size() == 1 ? outer.front() : b.fuse(stage, outer));
}

void schedule_elementwise(Builder& b, int stage, int64_t lanes, bool may_fuse) {
  std::vector<ir::Var> loops = b.loops(stage);
  if (loops.empty()) return;
  const Contiguous run = contiguous(b.at(stage));
  if (may_fuse && b.at(stage).layout.empty()) {
    const ir::Var all = loops.size() == 1 ? loops.front() : b.fuse(stage, loops);
    const int64_t v = vector_length(b.at(stage).iters.front().extent, lanes);
    if (v == 1) return;
    const auto parts = b.split(stage, all, {v});
    b.vectorize(stage, parts[1]);
    parallelize(b, stage, {parts[0]});
    return;
  }
  const int64_t v = vector_length(run.length, lanes);
  const ir::Var inner = loops[static_cast<size_t>(run.axis)];
  std::vector<ir::Var> order;
  for (const ir::Var& l : loops)
    if (!l.same_as(inner)) order.push_back(l);
  const size_t outer_count = order.size();
  if (v > 1) {
    const auto parts = b.split(stage, inner, {v});
    // Blocked layouts keep the block index where the dimension stands, so that memory is walked in order.
    std::vector<ir::Var> walk;
    for (const ir::Var& l : loops) walk.push_back(l.same_as(inner) ? parts[0] : l);
    walk.push_back(parts[1]);
    b.reorder(stage, walk);
    b.vectorize(stage, parts[1]);
    const size_t count = b.at(stage).layout.empty() ? std::max<size_t>(1, outer_count) : walk.size() - 2;
    parallelize(b, stage, std::vector<ir::Var>(walk.begin(), walk.begin() + static_cast<std::ptrdiff_t>(std::min(count, walk.size() - 1))));
    return;
  }
  parallelize(b, stage, std::vector<ir::Var>(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(1, loops.size() - 1))));
}

/// True if neighbouring outputs along `axis` read elements that are not neighbours: a vector would have to gather them, slower than scalar loads.
bool gathers(const Stage& st, int axis) {
  const ir::VarNode* var = st.op.axes[static_cast<size_t>(axis)].var.get();
  bool scattered = false;
  ir::walk(*st.op.body, [&](const ir::Expr& e) {
    const auto* l = ir::as<ir::LoadNode>(e);
    if (!l) return;
    for (size_t k = 0; k < l->indices.size(); ++k) {
      if (!ir::uses_var(l->indices[k], var)) continue;
      const arith::Linear index = arith::Analyzer().linear(l->indices[k]);
      const bool unit = std::any_of(index.terms.begin(), index.terms.end(), [&](const auto& t) { return t.atom.get() == var && t.coeff == 1; });
      scattered = scattered || !unit || k + 1 != l->indices.size();
    }
  });
  return scattered;
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

/// A few vectors of outputs at a time, summed up in registers. Returns the stage's index after the cache stage went in before it.
int schedule_reduction(Builder& b, int stage, int64_t lanes) {
  const Contiguous run = contiguous(b.at(stage));
  const bool scalar = run.axis < 0 || (b.at(stage).layout.empty() && gathers(b.at(stage), run.axis));
  const int64_t v = scalar ? 1 : vector_length(run.length, lanes);
  // The second axis of the tile: the first other one that divides, channels for the operators of networks.
  int tiled = -1;
  for (size_t d = 0; tiled < 0 && d < b.at(stage).op.axes.size(); ++d)
    if (static_cast<int>(d) != run.axis && b.at(stage).op.axes[d].extent % kAccumulators == 0) tiled = static_cast<int>(d);
  const int cache = b.cache_write(stage, "local");
  const int out = cache + 1;
  const std::vector<ir::Var> loops = b.loops(out);
  if (loops.empty()) return out;
  std::vector<ir::Var> walk = loops, inner;
  if (tiled >= 0) {
    const auto parts = b.split(out, loops[static_cast<size_t>(tiled)], {kAccumulators});
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
  if (work_of(b.at(cache)) >= kParallelWork) {
    if (walk.size() > 1) walk.pop_back();
    b.parallel(out, walk.size() == 1 ? walk.front() : b.fuse(out, walk));
  }
  return out;
}

/// Whether a stage disappears into its readers.
bool inlines(const te::Dag& dag, int i) {
  const te::Op& op = dag.ops[static_cast<size_t>(i)];
  if (op.is_placeholder() || op.reducer != te::Reducer::none) return false;
  if (std::find(dag.outputs.begin(), dag.outputs.end(), i) != dag.outputs.end()) return false;
  const std::vector<int> readers = dag.consumers(i);
  // A reduction reads an element many times: computing it each time would repeat the work.
  return readers.size() == 1 && dag.ops[static_cast<size_t>(readers.front())].reducer == te::Reducer::none;
}

}  // namespace

Expected<schedule::Schedule> rule_schedule(const te::DagPtr& dag, const Target& target, const std::vector<schedule::LayoutStep>& layouts) {
  Builder b(dag);
  for (const schedule::LayoutStep& l : layouts) b.layout(l.stage, l.pieces);
  for (size_t i = 0; i < dag->ops.size(); ++i)
    if (inlines(*dag, static_cast<int>(i))) b.compute_inline(static_cast<int>(i));
  for (int i = 0; b.ok() && i < b.num_stages(); ++i) {
    const Stage& st = b.at(i);
    if (st.op.is_placeholder() || st.location == schedule::ComputeLocation::inlined) continue;
    const int64_t lanes = target.lanes(st.op.output->dtype);
    if (st.op.reducer != te::Reducer::none) {
      i = schedule_reduction(b, i, lanes);
    } else {
      const std::vector<Stage>& stages = b.all();
      const bool chain = std::all_of(stages.begin(), stages.end(), [&](const Stage& s) {
        return s.location != schedule::ComputeLocation::inlined || (reads_in_place(s) && s.op.output->shape == st.op.output->shape);
      });
      schedule_elementwise(b, i, lanes, chain && reads_in_place(st));
    }
  }
  return std::move(b).finish();
}

std::optional<schedule::Schedule> fallback_schedule(const te::DagPtr& dag, const Target& target) {
  const Template* t = find_template(*dag, target);
  if (!t) return std::nullopt;
  const ConfigEntity point = t->fallback(*dag, target);
  if (point.index() < 0) return std::nullopt;
  auto s = t->apply(dag, target, point);
  return s ? std::optional(*std::move(s)) : std::nullopt;
}

schedule::Schedule default_schedule(const te::DagPtr& dag, const Target& target) {
  if (auto fallback = fallback_schedule(dag, target)) return *std::move(fallback);
  auto s = rule_schedule(dag, target, {});
  TW_ASSERT(s.has_value(), s.error().text());
  return *std::move(s);
}

}  // namespace tw::space
