// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/space/rules/access.h"
#include "engine/space/rules/rules.h"

namespace tw::space::rules {

using schedule::Builder;
using schedule::Stage;

namespace {

/// Vectors of a row that are read together, at least: whole lines of memory, several of them.
constexpr int64_t kVectorsTogether = 4;

/// Loops of a stage's elements but those of its running axis and of its columns.
std::vector<ir::Var> besides(const Builder& b, int stage, size_t axis, size_t columns) {
  std::vector<ir::Var> out, loops = b.loops(stage);
  for (size_t k = 0; k < b.at(stage).op.axes.size(); ++k)
    if (k != axis && k != columns) out.push_back(loops[k]);
  return out;
}

/// The rows of blocks for one vector of columns after the other, a few vectors at a time: inside the loops returned, which are outside of all columns of the
/// tile. A block is summed up in registers before it is written, which might change what is read: the sums are a stage of their own, `stage` moves up by one.
std::vector<ir::Var> write_blocks(Builder& b, int stage, size_t axis, int64_t block, size_t columns, int64_t tile, int64_t v) {
  const int sums = b.cache_write(stage), out = sums + 1;
  std::vector<ir::Var> outer = besides(b, out, axis, columns);
  const std::vector<ir::Var> loops = b.loops(out);
  const auto rows = b.split(out, loops[axis], {block}), vectors = b.split(out, loops[columns], {tile / v, v});
  outer.push_back(vectors[0]);
  std::vector<ir::Var> order = outer;
  order.insert(order.end(), {rows[0], vectors[1], rows[1], vectors[2]});
  b.reorder(out, order);
  b.unroll(out, rows[1]);
  b.compute_at(sums, out, vectors[1]);
  b.unroll(sums, b.loops(sums)[axis]);
  if (v > 1) b.vectorize(out, vectors[2]);
  if (v > 1) b.vectorize(sums, b.loops(sums)[columns]);
  return outer;
}

}  // namespace

bool schedule_running(Builder& b, const Target& target) {
  if (b.outputs().size() != 1) return false;
  const int out = b.outputs().front();
  const te::Op op = b.at(out).op;
  if (op.tag != kRunning) return false;
  const auto axis = static_cast<size_t>(op.attrs.at("axis").front());
  const int64_t block = op.attrs.at("block").front();
  const size_t rank = op.axes.size();
  std::vector<int> members;
  for (int i = 0; i < b.num_stages(); ++i) {
    const Stage& st = b.at(i);
    if (!st.layout.empty()) return false;
    if (i == out || !schedule::has_loops(st)) continue;
    if (i > out || st.op.axes.size() != rank || (st.op.tag != kRunning && st.op.reduce_axes.size() != 1)) return false;
    for (size_t k = 0; k < rank; ++k)
      if (k != axis && st.op.axes[k].extent != op.axes[k].extent) return false;
    members.push_back(i);
  }

  size_t last = rank - 1;
  while (last > axis && op.axes[last].extent == 1) --last;
  if (last == axis) return false;
  const int64_t columns = op.axes[last].extent, v = vector_length(columns, target.lanes(op.output->dtype));
  // As many columns as stay in the cache from the totals to the result, and no more than give every core some.
  const int64_t fit = target.l2_bytes / 2 / (op.axes[axis].extent * op.output->dtype.bytes()), least = kVectorsTogether * v;
  const int64_t others = op.output->num_elements() / (op.axes[axis].extent * columns), shared = (columns * others + target.cores - 1) / target.cores;
  const int64_t tile = std::min(std::max(least, (std::min(fit, shared) + least - 1) / least * least), (columns + v - 1) / v * v);
  // Few columns: loops along the axis have work for more cores, half a block for each element.
  if (others * ((columns + tile - 1) / tile) * block / 2 < target.cores && iterations(op) >= kParallelWork) return false;
  const std::vector<ir::Var> outer = write_blocks(b, out, axis, block, last, tile, v);
  int result = out + 1;
  const ir::Var region = outer.size() > 1 ? b.fuse(result, outer) : outer.front();
  if (iterations(op) >= kParallelWork) b.parallel(result, region);

  for (size_t m = members.size(); m-- > 0;) {
    const int i = members[m];
    if (b.at(i).op.tag == kRunning) {
      write_blocks(b, i, axis, block, last, v, v);
      b.compute_at(i + 1, ++result, region);
      continue;
    }
    b.compute_at(i, result, region);
    std::vector<ir::Var> order = besides(b, i, axis, last);
    const std::vector<ir::Var> own = b.loops(i);
    const auto parts = b.split(i, own[last], {v});
    order.insert(order.end(), {own[axis], parts[0], own[rank], parts[1]});
    b.reorder(i, order);
    b.unroll(i, own[rank]);
    if (v > 1) b.vectorize(i, parts[1]);
  }
  return true;
}

}  // namespace tw::space::rules
