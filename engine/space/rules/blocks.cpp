// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/ir/visit.h"
#include "engine/space/rules/access.h"
#include "engine/space/rules/rules.h"

namespace tw::space::rules {

using schedule::Builder;
using schedule::Stage;

namespace {

/// Whether the stage reads `source` at its own position only.
bool reads_own_position(const Builder& b, int stage, int source) {
  const std::vector<te::Axis>& axes = b.at(stage).op.axes;
  bool own = true;
  ir::walk(schedule::whole_body(b.all(), stage), [&](const ir::Expr& e) {
    const auto* l = ir::as<ir::LoadNode>(e);
    if (!l || l->buffer.get() != b.at(source).op.output.get()) return;
    own = own && l->indices.size() == axes.size();
    // Broadcasting operators write 0 for an axis of one element.
    for (size_t d = 0; own && d < axes.size(); ++d) own = axes[d].extent == 1 || l->indices[d].get() == axes[d].var.get();
  });
  return own;
}

/// Whether all that a stage reads along the axis of the blocks lies in such blocks.
bool reads_blocks(const Builder& b, int stage, const Contiguous& blocks) {
  const ir::VarNode* var = b.at(stage).op.axes[static_cast<size_t>(blocks.axis)].var.get();
  bool some = false, all = true;
  ir::walk(schedule::whole_body(b.all(), stage), [&](const ir::Expr& e) {
    const auto* l = ir::as<ir::LoadNode>(e);
    if (!l || std::none_of(l->indices.begin(), l->indices.end(), [&](const ir::Expr& i) { return ir::uses_var(i, var); })) return;
    const auto source = std::find_if(b.all().begin(), b.all().end(), [&](const Stage& st) { return st.op.output.get() == l->buffer.get(); });
    const bool fits = source != b.all().end() && !source->layout.empty() && source->layout.back().factor == blocks.length &&
                      l->indices[static_cast<size_t>(source->layout.back().dim)].get() == var;
    some = some || fits;
    all = all && fits;
  });
  return some && all;
}

/// The blocks that a stage's results lie in; of a result in rows, those of the input that is read along the last axis that there is anything along. No length if there are none.
Contiguous blocks_of(const Builder& b, int out, int reduction) {
  const Stage& st = b.at(out);
  const Contiguous run = contiguous(st);
  if (!st.layout.empty()) return st.layout.back().factor == run.length ? run : Contiguous{};
  Contiguous found;
  if (st.op.axes.empty() || b.at(reduction).op.axes.size() != st.op.axes.size()) return found;
  const ir::VarNode* last = b.at(reduction).op.axes[static_cast<size_t>(run.axis)].var.get();
  ir::walk(schedule::whole_body(b.all(), reduction), [&](const ir::Expr& e) {
    const auto* l = ir::as<ir::LoadNode>(e);
    if (!l) return;
    for (const Stage& source : b.all())
      if (source.op.output.get() == l->buffer.get() && !source.layout.empty() && l->indices[static_cast<size_t>(source.layout.back().dim)].get() == last)
        found = {run.axis, source.layout.back().factor};
  });
  return found;
}

/// Results beside each other that a loop of this extent takes at a time.
int64_t tile_of(int64_t extent, int64_t wanted) {
  for (const int64_t t : {wanted, wanted + 1, wanted - 1})
    if (t > 0 && extent % t == 0) return t;
  return extent > 2 * wanted ? wanted : divisor_up_to(extent, wanted);
}

}  // namespace

bool schedule_blocks(Builder& b, const Target& target, const Choices& how) {
  if (b.outputs().size() != 1) return false;
  int out = b.outputs().front();
  std::vector<int> stages;
  for (int i = 0; i < b.num_stages(); ++i)
    if (schedule::has_loops(b.at(i))) stages.push_back(i);
  int reduction = stages.front();
  const Contiguous blocks = blocks_of(b, out, reduction);
  const int64_t v = blocks.length;
  if (v < 2 || v > target.lanes(b.at(out).op.output->dtype)) return false;
  if (stages.size() > 2 || stages.back() != out || b.at(reduction).op.reducer == te::Reducer::none) return false;
  if (reduction != out && (b.at(out).op.reducer != te::Reducer::none || !reads_own_position(b, out, reduction))) return false;
  if (b.at(reduction).op.axes.size() != b.at(out).op.axes.size() || !reads_blocks(b, reduction, blocks)) return false;
  const int64_t work = iterations(b.at(reduction).op);
  if (reduction == out) {
    reduction = b.cache_write(out, "local");
    out = reduction + 1;
  }

  whole_blocks(b, reduction, blocks.axis, v);
  const std::vector<te::Axis> axes = b.at(out).op.axes;
  const std::vector<ir::Var> loops = b.loops(out);
  const auto axis = static_cast<size_t>(blocks.axis);
  size_t tiled = axis;  // the last other axis there is anything along, else the blocks themselves
  for (size_t d = 0; d < axes.size(); ++d)
    if (d != axis && axes[d].extent > 1) tiled = d;
  const int64_t tile = tile_of(tiled == axis ? (axes[axis].extent + v - 1) / v : axes[tiled].extent, how.accumulators);
  std::vector<ir::Var> outer, inner;
  for (size_t d = 0; d < axes.size(); ++d) {
    std::vector<int64_t> lengths;
    if (d == tiled) lengths.push_back(tile);
    if (d == axis) lengths.push_back(v);
    const std::vector<ir::Var> parts = lengths.empty() ? std::vector<ir::Var>{loops[d]} : b.split(out, loops[d], lengths);
    outer.push_back(parts[0]);
    if (d == tiled) {
      inner.insert(inner.begin(), parts[1]);
      b.unroll(out, parts[1]);
    }
    if (d == axis) {
      inner.push_back(parts.back());
      b.vectorize(out, parts.back());
    }
  }
  std::vector<ir::Var> order = outer;
  order.insert(order.end(), inner.begin(), inner.end());
  b.reorder(out, order);
  b.compute_at(reduction, out, outer.back());

  const std::vector<ir::Var> all = b.loops(reduction);
  std::vector<ir::Var> walk, last;
  int64_t window = 1;
  for (const te::Axis& r : b.at(reduction).op.reduce_axes) window *= r.extent;
  for (size_t d = 0; d < all.size(); ++d) {
    if (d == axis || d == tiled) continue;
    walk.push_back(all[d]);
    if (d >= axes.size() && window <= how.window) b.unroll(reduction, all[d]);
  }
  if (tiled != axis) last.push_back(all[tiled]);
  const auto vectors = b.split(reduction, all[axis], {v});
  last.insert(last.end(), vectors.begin(), vectors.end());
  for (size_t k = 0; k + 1 < last.size(); ++k) b.unroll(reduction, last[k]);
  b.vectorize(reduction, last.back());
  walk.insert(walk.end(), last.begin(), last.end());
  b.reorder(reduction, walk);

  // The loop that holds the tile stays a loop of its own when there are others. Few pieces are enough: a loop that is not shared out is cut at the borders of
  // an image, and the rest of it runs without tests.
  if (outer.size() > 1) outer.pop_back();
  parallelize(b, out, first_loops(b, out, outer, std::max<int64_t>(1, pieces_for(target, how) / 4)), work);
  return true;
}

}  // namespace tw::space::rules
