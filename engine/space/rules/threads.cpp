// SPDX-License-Identifier: Apache-2.0
#include "engine/space/rules/threads.h"

#include <algorithm>

#include "engine/ir/visit.h"
#include "engine/space/rules/access.h"

namespace tw::space::rules {

using schedule::Annotation;
using schedule::Builder;

namespace {

constexpr int64_t kThreads = 256;
/// Bytes that a thread reads or writes at once, at most.
constexpr int64_t kVectorBytes = 16;
/// Elements that a reduction needs for the threads of a block to share it, where neighbouring results read neighbours too.
constexpr int64_t kSharedReduction = 2 * target::kWarp;
/// Rows up to this length are one warp's.
constexpr int64_t kWarpRow = 1024;
/// Elements of a row that each thread takes before the block grows beyond kThreads.
constexpr int64_t kElementsEach = 32;
/// Bytes of shared memory for what several stages of a kernel read, at most.
constexpr int64_t kKeptBytes = 32 * 1024;
/// Elements of an array that a thread keeps for itself.
constexpr int64_t kLocalElements = 32;
/// Elements of a window that is written out.
constexpr int64_t kWindow = 9;
/// A tile of a transpose is so many elements each way; its rows lie this far apart, and one more against bank conflicts.
constexpr int64_t kTileSide = 32, kTileRows = 8;

ir::Var joined(Builder& b, int stage, const std::vector<ir::Var>& loops) { return loops.size() > 1 ? b.fuse(stage, loops) : loops.front(); }

int64_t power_up_to(int64_t n) {
  int64_t p = 1;
  while (2 * p <= n) p *= 2;
  return p;
}

int64_t length_of(const std::vector<te::Axis>& axes) {
  int64_t n = 1;
  for (const te::Axis& a : axes) n *= a.extent;
  return n;
}

/// Threads of a block for `work` pieces that are a thread's each: fewer where multiprocessors would get none.
int64_t block_for(int64_t work, const Target& target, int64_t asked) {
  int64_t threads = asked > 0 ? asked : kThreads;
  while (asked <= 0 && threads > 2 * target::kWarp && work < threads * target.gpu->multiprocessors) threads /= 2;
  return std::min(threads, std::max<int64_t>(1, work));
}

/// A block for each result, whose threads add up parts of it.
void block_each(Builder& b, int stage) {
  const std::vector<ir::Var> loops = b.loops(stage);
  const auto axes = static_cast<std::ptrdiff_t>(b.at(stage).op.axes.size());
  const int64_t threads = power_up_to(std::min(kThreads, length_of(b.at(stage).op.reduce_axes)));
  const auto parts = b.split(stage, joined(b, stage, {loops.begin() + axes, loops.end()}), {threads});
  b.bind(stage, parts[1], Annotation::thread_x);
  if (axes > 0) b.bind(stage, joined(b, stage, {loops.begin(), loops.begin() + axes}), Annotation::block_x);
}

/// Blocks of threads, one iteration of `all` each. Returns the loop of the threads.
ir::Var spread(Builder& b, int stage, const ir::Var& all, int64_t threads) {
  const auto parts = b.split(stage, all, {threads});
  b.bind(stage, parts[0], Annotation::block_x);
  b.bind(stage, parts[1], Annotation::thread_x);
  return parts[1];
}

/// Whether all that changes along the reductions of a stage lies together along the innermost one, and what else matters of its reads.
struct ReductionReads {
  bool along = true, reuse = false;
};
ReductionReads reduction_reads(const Builder& b, int stage) {
  const te::Op& op = b.at(stage).op;
  std::vector<te::Axis> axes = op.axes;
  axes.insert(axes.end(), op.reduce_axes.begin(), op.reduce_axes.end());
  // The innermost reduction loop that is one.
  size_t inner = axes.size() - 1;
  while (inner > op.axes.size() && axes[inner].extent == 1) --inner;
  ReductionReads out;
  for (const Read& r : reads_of(schedule::whole_body(b.all(), stage), axes)) {
    bool varies = false;
    for (size_t k = op.axes.size(); k < axes.size(); ++k) varies = varies || r.strides[k] != 0;
    if (!varies) continue;
    out.along = out.along && r.strides[inner] == 1;
    for (size_t k = 0; k < op.axes.size(); ++k) out.reuse = out.reuse || (r.strides[k] == 0 && op.axes[k].extent > 1);
  }
  return out;
}

/// Members without a reduction and with axes of their own: what several stages read.
bool is_kept(const Builder& b, const Member& m, const Members& all) {
  return m.stage != all.output && b.at(m.stage).op.reducer == te::Reducer::none && !loops_of(b, m, all).own.empty();
}

void rows_together(Builder& b, RowsOnThreads& rows, const Target& target, const ThreadChoices& how) {
  const int out = rows.members.output;
  int64_t threads = how.row_threads;
  if (threads <= 0)
    threads = rows.length <= kWarpRow ? target::kWarp : std::max(kThreads, std::min<int64_t>(target::kMaxBlockThreads, rows.length / kElementsEach));
  threads = power_up_to(std::min(threads, std::max<int64_t>(1, rows.length)));
  int64_t height = how.rows;
  if (height <= 0)
    for (height = std::max<int64_t>(1, kThreads / 2 / threads); height > 1 && rows.count < height * target.gpu->multiprocessors;) height /= 2;
  height = divisor_up_to(rows.neighbours, height);
  const bool keep = how.keep < 0 ? rows.kept_bytes * height <= kKeptBytes : how.keep > 0;

  const MemberLoops l = loops_of(b, rows.members.members.back(), rows.members);
  const auto row = b.split(out, l.shared.back(), {height});
  std::vector<ir::Var> outer(l.shared.begin(), l.shared.end() - 1), order;
  outer.push_back(row[0]);
  order = outer;
  order.push_back(row[1]);
  order.insert(order.end(), l.own.begin(), l.own.end());
  order.insert(order.end(), l.reduce.begin(), l.reduce.end());
  b.reorder(out, order);
  b.bind(out, joined(b, out, outer), Annotation::block_x);
  b.bind(out, row[1], Annotation::thread_y);
  const auto share = [&](int stage, const std::vector<ir::Var>& loops) {
    b.bind(stage, b.split(stage, joined(b, stage, loops), {threads})[1], Annotation::thread_x);
  };
  if (!l.own.empty()) share(out, l.own);
  if (!l.reduce.empty()) share(out, l.reduce);
  for (size_t k = rows.members.members.size() - 1; k-- > 0;) {
    const Member& m = rows.members.members[k];
    if (is_kept(b, m, rows.members) && !keep) {
      b.compute_inline(m.stage);
      continue;
    }
    const MemberLoops own = loops_of(b, m, rows.members);
    b.compute_at(m.stage, out, row[1]);
    if (!own.own.empty()) {  // in shared memory: all rows of the block
      std::vector<ir::Var> walk = own.shared;
      walk.insert(walk.end(), own.own.begin(), own.own.end());
      b.reorder(m.stage, walk);
      b.bind(m.stage, own.shared.back(), Annotation::thread_y);
      share(m.stage, own.own);
    } else if (!own.reduce.empty()) {
      share(m.stage, own.reduce);
    }
  }
}

void row_each(Builder& b, RowsOnThreads& rows, const Target& target, const ThreadChoices& how) {
  if (b.at(rows.members.output).op.reducer != te::Reducer::none) cache_output(b, rows.members);
  const int out = rows.members.output;
  const MemberLoops l = loops_of(b, rows.members.members.back(), rows.members);
  std::vector<ir::Var> order = l.shared;
  order.insert(order.end(), l.own.begin(), l.own.end());
  b.reorder(out, order);
  const ir::Var thread = spread(b, out, joined(b, out, l.shared), block_for(rows.count, target, how.threads));
  for (size_t k = rows.members.members.size() - 1; k-- > 0;) {
    const Member& m = rows.members.members[k];
    const MemberLoops own = loops_of(b, m, rows.members);
    if (is_kept(b, m, rows.members) && length_of(own.own_axes) > kLocalElements) {
      b.compute_inline(m.stage);
      continue;
    }
    b.compute_at(m.stage, out, thread);
    const bool written_out = how.window < 0 ? length_of(b.at(m.stage).op.reduce_axes) <= kWindow : how.window > 0;
    for (const ir::Var& r : own.reduce)
      if (written_out) b.unroll(m.stage, r);
  }
}

/// Neighbouring elements in vectors, a vector a thread.
void by_elements(Builder& b, int stage, const Target& target, const ThreadChoices& how) {
  const std::vector<te::Axis> axes = b.at(stage).op.axes;
  const std::vector<ir::Var> loops = b.loops(stage);
  const ElementVectors vectors = element_vectors(b, stage);
  const auto first = static_cast<std::ptrdiff_t>(vectors.first);
  const int64_t elements = length_of(axes);
  int64_t v = how.vector > 0 ? how.vector : vectors.longest;
  while (how.vector <= 0 && v > 1 && elements < v * kThreads * target.gpu->multiprocessors) v /= 2;
  std::vector<ir::Var> outer(loops.begin(), loops.begin() + first);
  const ir::Var run = joined(b, stage, {loops.begin() + first, loops.end()});
  if (v > 1) {
    const auto parts = b.split(stage, run, {v});
    b.vectorize(stage, parts[1]);
    outer.push_back(parts[0]);
  } else {
    outer.push_back(run);
  }
  spread(b, stage, joined(b, stage, outer), block_for(elements / v, target, how.threads));
}

/// Tiles pass through shared memory: rows of the source come in, rows of the result go out.
void by_tiles(Builder& b, int out, const Crossing& crossing, const ThreadChoices& how) {
  const std::vector<ir::Var> loops = b.loops(out);
  const auto row_axis = static_cast<size_t>(crossing.row_axis);
  const int64_t height = how.tile_rows > 0 ? how.tile_rows : kTileRows;
  const auto rows = b.split(out, loops[row_axis], {kTileSide / height, height});
  const auto columns = b.split(out, loops.back(), {kTileSide});
  std::vector<ir::Var> outer;
  for (size_t k = 0; k + 1 < loops.size(); ++k) outer.push_back(k == row_axis ? rows[0] : loops[k]);
  outer.push_back(columns[0]);
  std::vector<ir::Var> order = outer;
  order.insert(order.end(), {rows[1], rows[2], columns[1]});
  b.reorder(out, order);
  const ir::Var block = joined(b, out, outer);
  b.bind(out, block, Annotation::block_x);
  b.bind(out, rows[2], Annotation::thread_y);
  b.bind(out, columns[1], Annotation::thread_x);

  const int tile = b.stage(crossing.source);
  const std::vector<ir::Var> own = b.loops(tile);
  b.storage_align(tile, own[crossing.column_dim], kTileSide, 1);
  b.compute_at(tile, out, block);
  const auto parts = b.split(tile, joined(b, tile, own), {height, kTileSide});
  b.bind(tile, parts[1], Annotation::thread_y);
  b.bind(tile, parts[2], Annotation::thread_x);
}

}  // namespace

std::optional<RowsOnThreads> rows_on_threads(const Builder& b, const Target& target) {
  std::optional<Members> members = find_members(b, {});
  if (!members) return std::nullopt;
  RowsOnThreads rows{*std::move(members)};
  const te::Op& out = b.at(rows.members.output).op;
  for (size_t k = 0; k < rows.members.shared.size(); ++k)
    if (rows.members.shared[k]) {
      rows.count *= out.axes[k].extent;
      rows.neighbours = out.axes[k].extent;
    }
  bool along = true, pool = false;
  for (const Member& m : rows.members.members) {
    const te::Op& op = b.at(m.stage).op;
    const MemberLoops l = loops_of(b, m, rows.members);
    if (is_kept(b, m, rows.members)) rows.kept_bytes += length_of(l.own_axes) * op.output->dtype.bytes();
    if (op.reducer == te::Reducer::none) continue;
    if (!l.own.empty()) return std::nullopt;
    const ReductionReads reads = reduction_reads(b, m.stage);
    rows.length = std::max(rows.length, length_of(op.reduce_axes));
    rows.window = rows.window || length_of(op.reduce_axes) <= kLargestWindow;
    along = along && reads.along;
    rows.product = rows.product || reads.reuse;
    pool = pool || op.tag == "pool";
  }
  const bool few = rows.count < kThreads * target.gpu->multiprocessors;
  rows.together = along && rows.length > 1 && (rows.product || pool ? few && rows.length >= kSharedReduction : true);
  return rows;
}

ElementVectors element_vectors(const Builder& b, int stage) {
  const te::Op& op = b.at(stage).op;
  const ir::Expr body = schedule::whole_body(b.all(), stage);
  ElementVectors out{joined_from(body, op.axes), 1};
  int64_t length = 1, widest = op.output->dtype.bytes();
  for (size_t k = out.first; k < op.axes.size(); ++k) length *= op.axes[k].extent;
  for (const Read& r : reads_of(body, op.axes)) {
    const auto stride = r.strides.back();
    if (stride != 0 && stride != 1) return out;
    widest = std::max<int64_t>(widest, r.buffer->dtype.bytes());
  }
  while (2 * out.longest * widest <= kVectorBytes && length % (2 * out.longest) == 0) out.longest *= 2;
  return out;
}

std::optional<Crossing> find_crossing(const te::Dag& dag) {
  if (dag.outputs.size() != 1) return std::nullopt;
  const te::Op& out = dag.ops[static_cast<size_t>(dag.outputs.front())];
  if (out.is_placeholder() || out.reducer != te::Reducer::none || out.axes.size() < 2 || out.axes.back().extent < kTileSide / 2) return std::nullopt;
  std::vector<const ir::LoadNode*> loads;
  ir::walk(*out.body, [&](const ir::Expr& e) {
    if (const auto* l = ir::as<ir::LoadNode>(e)) loads.push_back(l);
  });
  for (const ir::LoadNode* l : loads) {
    if (l->indices.empty() || std::count_if(loads.begin(), loads.end(), [&](const auto* o) { return o->buffer.same_as(l->buffer); }) > 1) continue;
    const int source = dag.op_of(l->buffer.get());
    const te::Op& from = dag.ops[static_cast<size_t>(source)];
    if (!from.is_placeholder() && (from.reducer != te::Reducer::none || dag.consumers(source).size() > 1)) continue;
    Crossing c{from.name};
    bool found_column = false;
    for (size_t d = 0; d < l->indices.size(); ++d)
      if (l->indices[d].get() == out.axes.back().var.get()) {
        c.column_dim = d;
        found_column = true;
      }
    for (size_t k = 0; k + 1 < out.axes.size(); ++k)
      if (l->indices.back().get() == out.axes[k].var.get() && out.axes[k].extent >= kTileSide / 2) c.row_axis = static_cast<int>(k);
    if (found_column && c.row_axis >= 0) return c;
  }
  return std::nullopt;
}

void schedule_by_threads(Builder& b, const Target& target, const std::optional<Crossing>& crossing, const ThreadChoices& how) {
  if (crossing) {
    Crossing c = *crossing;
    if (const int source = b.stage(c.source); b.at(source).op.is_placeholder()) {
      const int cache = b.cache_read(source, {b.outputs().front()}, "shared");
      if (!b.ok()) return;
      c.source = b.at(cache).op.name;
    }
    return by_tiles(b, b.outputs().front(), c, how);
  }
  if (auto rows = rows_on_threads(b, target)) return rows->together ? rows_together(b, *rows, target, how) : row_each(b, *rows, target, how);
  for (int i = 0; b.ok() && i < b.num_stages(); ++i) {
    if (!schedule::has_loops(b.at(i))) continue;
    const te::Op& op = b.at(i).op;
    if (op.reducer == te::Reducer::none) {
      if (!op.axes.empty()) by_elements(b, i, target, how);
      continue;
    }
    const int64_t results = op.output->num_elements(), length = length_of(op.reduce_axes);
    if (op.axes.empty() || (length >= kSharedReduction && results < kThreads * target.gpu->multiprocessors)) {
      block_each(b, i);
      continue;
    }
    const int sum = b.cache_write(i, "local"), out = sum + 1;
    b.compute_at(sum, out, spread(b, out, joined(b, out, b.loops(out)), block_for(results, target, how.threads)));
    i = out;
  }
}

}  // namespace tw::space::rules
