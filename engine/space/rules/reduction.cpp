// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "engine/ir/visit.h"
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

/// Length of the blocks of an array that a stage without blocks reads along its axis, beside what stands still while it sums up; 1 if there are none.
int64_t blocks_read(const Builder& b, int stage, int axis) {
  const te::Op& op = b.at(stage).op;
  const ir::VarNode* var = op.axes[static_cast<size_t>(axis)].var.get();
  int64_t length = 1;
  bool all = true;
  ir::walk(schedule::whole_body(b.all(), stage), [&](const ir::Expr& e) {
    const auto* l = ir::as<ir::LoadNode>(e);
    if (!l) return;
    const auto walks = [&](const ir::VarNode* v) {
      return std::any_of(l->indices.begin(), l->indices.end(), [&](const ir::Expr& i) { return ir::uses_var(i, v); });
    };
    if (std::none_of(op.reduce_axes.begin(), op.reduce_axes.end(), [&](const te::Axis& r) { return walks(r.var.get()); })) return;
    const auto source = std::find_if(b.all().begin(), b.all().end(), [&](const Stage& st) { return st.op.output.get() == l->buffer.get(); });
    const bool fits = source != b.all().end() && !source->layout.empty() && l->indices[static_cast<size_t>(source->layout.back().dim)].get() == var;
    if (fits) length = std::max(length, source->layout.back().factor);
    all = all && fits && source->layout.back().factor == length;
  });
  return all ? length : 1;
}

/// Whether the stage reads an array in blocks.
bool reads_any_blocks(const Builder& b, int stage) {
  bool some = false;
  ir::walk(schedule::whole_body(b.all(), stage), [&](const ir::Expr& e) {
    const auto* l = ir::as<ir::LoadNode>(e);
    some = some ||
           (l && std::any_of(b.all().begin(), b.all().end(), [&](const Stage& st) { return st.op.output.get() == l->buffer.get() && !st.layout.empty(); }));
  });
  return some;
}

/// Whether a reduction walks through memory, for a vector at least.
bool walks_along(const Builder& b, int stage, int64_t lanes) {
  const std::vector<te::Axis>& reduced = b.at(stage).op.reduce_axes;
  for (const Read& r : reads_of(schedule::whole_body(b.all(), stage), reduced))
    for (size_t k = 0; k < reduced.size(); ++k)
      if (r.strides[k] == 1 && reduced[k].extent >= lanes) return true;
  return false;
}

/// A result in rows of what lies in blocks, as sums over the pixels of images: a vector for each block.
int add_up_blocks(Builder& b, int stage, int axis, int64_t length, int64_t work) {
  const int cache = b.cache_write(stage, "local"), out = cache + 1;
  whole_blocks(b, cache, axis, length);
  std::vector<ir::Var> outer = b.loops(out);
  const auto block = b.split(out, outer[static_cast<size_t>(axis)], {length});
  outer[static_cast<size_t>(axis)] = block[0];
  std::vector<ir::Var> order = outer;
  order.push_back(block[1]);
  b.reorder(out, order);
  b.vectorize(out, block[1]);
  b.compute_at(cache, out, outer.back());
  schedule_tile(b, cache, -1, axis);
  parallelize(b, out, outer, work);
  return out;
}

/// The reduction axis, by its number, whose neighbours lie in the blocks of everything that is read along it, and the blocks' length.
std::optional<Contiguous> blocks_added_up(const Builder& b, int stage) {
  const std::vector<te::Axis>& reduced = b.at(stage).op.reduce_axes;
  std::vector<Contiguous> in_blocks;
  std::vector<int> otherwise;
  ir::walk(schedule::whole_body(b.all(), stage), [&](const ir::Expr& e) {
    const auto* l = ir::as<ir::LoadNode>(e);
    if (!l) return;
    const auto source =
        std::find_if(b.all().begin(), b.all().end(), [&](const Stage& st) { return st.op.output.get() == l->buffer.get() && !st.layout.empty(); });
    for (int k = 0; k < static_cast<int>(reduced.size()); ++k) {
      const ir::VarNode* var = reduced[static_cast<size_t>(k)].var.get();
      const auto uses = std::count_if(l->indices.begin(), l->indices.end(), [&](const ir::Expr& i) { return ir::uses_var(i, var); });
      if (uses == 0) continue;
      if (uses == 1 && source != b.all().end() && l->indices[static_cast<size_t>(source->layout.back().dim)].get() == var)
        in_blocks.push_back({k, source->layout.back().factor});
      else
        otherwise.push_back(k);
    }
  });
  if (in_blocks.empty()) return std::nullopt;
  const Contiguous first = in_blocks.front();
  const bool all = std::all_of(in_blocks.begin(), in_blocks.end(), [&](const Contiguous& c) { return c.axis == first.axis && c.length == first.length; });
  return all && std::find(otherwise.begin(), otherwise.end(), first.axis) == otherwise.end() ? std::optional(first) : std::nullopt;
}

/// Pieces of a whole array that are added up by themselves, at most: few enough to be added up by one core.
constexpr int64_t kMostPieces = 256;

/// Of the lanes' sums of a whole array one for each turn, or as many equal parts, of the longest loop, which the cores share; none of less work. Returns how
/// many stages were added.
int add_up_pieces(Builder& b, int parts, int64_t work) {
  if (work < kParallelWork) return 0;
  const std::vector<schedule::Iter> iters = b.at(parts).iters;
  const auto outputs = static_cast<std::ptrdiff_t>(b.at(parts).op.axes.size());
  const auto shorter = [](const schedule::Iter& x, const schedule::Iter& y) { return x.extent < y.extent; };
  const auto longest = std::max_element(iters.begin() + outputs, iters.end(), shorter);
  const int64_t turns = divisor_up_to(longest->extent, kMostPieces);
  if (turns < 2) return 0;
  ir::Var piece = b.loops(parts)[static_cast<size_t>(longest - iters.begin())];
  if (turns < longest->extent) piece = b.split(parts, piece, {longest->extent / turns})[0];
  const int pieces = b.rfactor(parts, piece), total = pieces + 1;
  // The lane, which comes first but for the piece, goes inside.
  const auto lanes_inside = [&](int stage, std::vector<ir::Var> order, std::ptrdiff_t lane) {
    std::rotate(order.begin() + lane, order.begin() + lane + 1, order.end());
    b.reorder(stage, order);
    b.vectorize(stage, order.back());
    return order;
  };
  std::vector<ir::Var> added = b.loops(total);
  std::rotate(added.begin(), added.end() - 1, added.end());
  lanes_inside(total, added, 1);
  const int acc = b.cache_write(pieces, "local"), out = acc + 1;
  const std::vector<ir::Var> walk = lanes_inside(out, b.loops(out), 1);
  b.compute_at(acc, out, walk[walk.size() - 2]);
  lanes_inside(acc, b.loops(acc), 1);
  parallelize(b, out, std::vector<ir::Var>(walk.begin(), walk.end() - 1), work);
  return 2;
}

/// Sums along the blocks of what is read: each lane adds up its own, and the lanes are added up at the end.
int add_up_lanes(Builder& b, int stage, const Contiguous& blocks, int64_t work) {
  int sum = b.cache_write(stage, "local"), out = sum + 1;
  const size_t axes = b.at(sum).op.axes.size();
  const int parts = b.rfactor(sum, b.split(sum, b.loops(sum)[axes + static_cast<size_t>(blocks.axis)], {blocks.length})[1]);
  ++sum;
  ++out;
  if (const int added = b.at(sum).op.output->num_elements() == 1 ? add_up_pieces(b, parts, work) : 0; added > 0) {
    b.vectorize(sum + added, b.loops(sum + added).back());
    return out + added;
  }
  std::vector<ir::Var> walk = b.loops(out);
  if (!walk.empty()) {
    b.compute_at(sum, out, walk.back());
    b.compute_at(parts, out, walk.back());
  }
  b.vectorize(sum, b.loops(sum).back());
  std::vector<ir::Var> order = b.loops(parts);  // lane, axes..., what is added up
  std::rotate(order.begin(), order.begin() + 1, order.end());
  b.reorder(parts, order);
  b.vectorize(parts, order.back());
  if (walk.size() > 1) walk.pop_back();
  parallelize(b, out, walk, work);
  return out;
}

}  // namespace

int schedule_reduction(Builder& b, int stage, const Target& target, const Choices& how) {
  const int64_t lanes = target.lanes(b.at(stage).op.output->dtype), work = iterations(b.at(stage).op);
  const Contiguous run = contiguous(b.at(stage));
  if (b.at(stage).layout.empty())
    if (const auto blocks = blocks_added_up(b, stage); blocks && blocks->length >= 4 && blocks->length <= lanes) return add_up_lanes(b, stage, *blocks, work);
  const bool scalar = run.axis < 0 || (b.at(stage).layout.empty() && gathers(b, stage, run.axis));
  if (scalar && run.axis >= 0)
    if (const int64_t length = blocks_read(b, stage, run.axis); length > 1 && length <= lanes) return add_up_blocks(b, stage, run.axis, length, work);
  if (scalar && !is_output(b, stage) && b.at(stage).layout.empty() && !reads_any_blocks(b, stage) && walks_along(b, stage, lanes)) {
    const std::vector<ir::Var> loops = b.loops(stage);
    const size_t rows = b.at(stage).op.axes.size();
    schedule_row(b, stage, rows, target, how);
    parallelize(b, stage, std::vector<ir::Var>(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(rows)), work);
    return stage;
  }
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
  parallelize(b, out, first_loops(b, out, walk, pieces_for(target, how)), work);
  return out;
}

}  // namespace tw::space::rules
