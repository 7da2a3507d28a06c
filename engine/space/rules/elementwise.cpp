// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "engine/arith/analyzer.h"
#include "engine/ir/visit.h"
#include "engine/space/rules/access.h"
#include "engine/space/rules/rules.h"

namespace tw::space::rules {

using schedule::Builder;
using schedule::Stage;

Contiguous contiguous(const Stage& st) {
  if (st.op.axes.empty()) return {};
  if (!st.layout.empty())
    return {st.layout.back().dim, st.layout.back().factor ? st.layout.back().factor : st.op.axes[static_cast<size_t>(st.layout.back().dim)].extent};
  size_t last = st.op.axes.size() - 1;
  while (last > 0 && st.op.axes[last].extent == 1) --last;
  return {static_cast<int>(last), st.op.axes[last].extent};
}

int64_t vector_length(int64_t length, int64_t lanes) {
  if (length % lanes == 0) return lanes;
  if (length <= 4 * lanes) {
    if (lanes > 2 && length % (lanes / 2) == 0) return lanes / 2;
    for (int64_t v = lanes; v >= lanes / 2 && v > 1; --v)
      if (length % v == 0) return v;
  }
  return std::clamp<int64_t>(length, 1, lanes);
}

int64_t divisor_up_to(int64_t n, int64_t limit) {
  int64_t d = std::clamp<int64_t>(limit, 1, n);
  while (n % d != 0) --d;
  return d;
}

void whole_blocks(Builder& b, int stage, int axis, int64_t block) {
  if (b.at(stage).op.axes[static_cast<size_t>(axis)].extent % block != 0) b.pad(stage, b.loops(stage)[static_cast<size_t>(axis)], block);
}

void parallelize(Builder& b, int stage, const std::vector<ir::Var>& outer, int64_t work) {
  if (outer.empty() || work < kParallelWork) return;
  b.parallel(stage, outer.size() == 1 ? outer.front() : b.fuse(stage, outer));
}

std::vector<ir::Var> first_loops(const Builder& b, int stage, std::vector<ir::Var> outer, int64_t pieces) {
  size_t count = 0;
  for (int64_t n = 1; count < outer.size() && (n < pieces || count == 0); ++count)
    for (const schedule::Iter& it : b.at(stage).iters)
      if (it.var.same_as(outer[count])) n *= it.extent;
  outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(count), outer.end());
  return outer;
}

namespace {

/// Rows and columns of a block that is transposed in registers, at most.
constexpr int64_t kMaxBlock = 16;

/// Blocks a tile has each way, at most.
constexpr int64_t kTile = 4;
/// Ways of level-2 caches.
constexpr int64_t kWays = 16;

/// The longest distance in memory between neighbours along the last axis.
int64_t stride_of_last(const ir::Expr& body, const std::vector<te::Axis>& axes) {
  int64_t stride = 0;
  for (const Read& r : reads_of(body, axes)) stride = std::max(stride, r.strides.back().value_or(0));
  return stride;
}

/// The axis that lies in memory where a read of a row-major array strides along the axis of the vectors: a transpose of the two. -1 if there is none.
int crossing_axis(const Builder& b, const ir::Expr& body, const std::vector<te::Axis>& axes, size_t vectors) {
  for (const Read& r : reads_of(body, axes)) {
    const bool blocked = std::any_of(b.all().begin(), b.all().end(), [&](const Stage& st) { return st.op.output.get() == r.buffer && !st.layout.empty(); });
    if (blocked || !r.strides[vectors] || *r.strides[vectors] <= kShortStride) continue;
    for (size_t k = 0; k < axes.size(); ++k)
      if (k != vectors && r.strides[k] == 1 && axes[k].extent > 1) return static_cast<int>(k);
  }
  return -1;
}

/// Axes `from` to `axis`, one after the other, that count through the blocks an input's layout ends in.
struct BlocksRead : Contiguous {
  size_t from = 0;
};

/// The axes that an index counts through one by one, as those that channels are taken apart into; nothing if it does anything else.
std::optional<BlocksRead> counted_by(const arith::Analyzer& analyzer, const ir::Expr& index, const std::vector<te::Axis>& axes) {
  std::vector<int64_t> steps(axes.size(), 0);
  for (const auto& term : analyzer.linear(index).terms)
    for (size_t k = 0; k < axes.size(); ++k) {
      if (!ir::uses_var(term.atom, axes[k].var.get())) continue;
      if (term.atom.get() != axes[k].var.get()) return std::nullopt;
      steps[k] = term.coeff;
    }
  size_t last = axes.size();
  while (last > 0 && steps[last - 1] == 0) --last;
  if (last == 0 || steps[--last] != 1) return std::nullopt;
  BlocksRead found;
  found.axis = static_cast<int>(last);
  found.length = axes[last].extent;
  for (found.from = last; found.from > 0 && steps[found.from - 1] == found.length; --found.from) found.length *= axes[found.from - 1].extent;
  return found;
}

/// Calls f with the index along the dimension that is in blocks, and the blocks' length, of every read of an array whose layout ends in one.
template <class F>
void for_blocked_reads(const Builder& b, const ir::Expr& body, const F& f) {
  ir::walk(body, [&](const ir::Expr& e) {
    const auto* l = ir::as<ir::LoadNode>(e);
    if (!l) return;
    for (const Stage& st : b.all())
      if (st.op.output.get() == l->buffer.get() && !st.layout.empty()) f(l->indices[static_cast<size_t>(st.layout.back().dim)], st.layout.back().factor);
  });
}

/// The blocks that an input's layout ends in, where vectors along the output's last axis would stride over them.
std::optional<BlocksRead> blocks_of_input(const Builder& b, const ir::Expr& body, const std::vector<te::Axis>& axes) {
  std::optional<BlocksRead> found;
  arith::Analyzer analyzer;
  for (const te::Axis& a : axes) analyzer.bind(a.var.get(), {0, a.extent - 1});
  for_blocked_reads(b, body, [&](const ir::Expr& index, int64_t length) {
    if (length < 4 || length > kMaxBlock || (length & (length - 1)) != 0) return;
    auto counted = counted_by(analyzer, index, axes);
    if (!counted || counted->axis + 1 >= static_cast<int>(axes.size())) return;
    const auto last = static_cast<size_t>(counted->axis);
    if (axes[last].extent >= length || (counted->from == last && 2 * axes[last].extent > length))
      counted->from = last;  // one axis holds whole blocks, or most of one
    else if (counted->length < length)
      return;
    counted->length = length;
    found = counted;
  });
  return found;
}

/// A stage inside another: whole blocks along an axis are its vectors.
void compute_blocks(Builder& b, int stage, const Contiguous& blocks) {
  whole_blocks(b, stage, blocks.axis, blocks.length);
  std::vector<ir::Var> order = b.loops(stage);
  const auto block = b.split(stage, order[static_cast<size_t>(blocks.axis)], {blocks.length});
  order[static_cast<size_t>(blocks.axis)] = block[0];
  order.push_back(block[1]);
  b.reorder(stage, order);
  b.vectorize(stage, block[1]);
}

/// Whether `body`, over these axes, looks up rows of a stage that nothing has been done about.
bool takes_rows(const Builder& b, int stage, const ir::Expr& body, const std::vector<te::Axis>& axes) {
  const Stage& st = b.at(stage);
  const bool untouched = schedule::has_loops(st) && st.relations.empty() && st.location == schedule::ComputeLocation::root;
  return untouched && !is_output(b, stage) && st.op.reducer == te::Reducer::none && st.op.axes.size() == axes.size() &&
         looks_up_in_rows(body, axes.back().var, st.op.output.get());
}

/// The blocks of what rows are made of that a stage looks up.
std::optional<BlocksRead> blocks_of_rows(const Builder& b, int stage, const ir::Expr& body, const std::vector<te::Axis>& axes) {
  for (int i = 0; i < stage; ++i)
    if (takes_rows(b, i, body, axes))
      if (const auto blocks = blocks_of_input(b, schedule::whole_body(b.all(), i), b.at(i).op.axes);
          blocks && blocks->from == static_cast<size_t>(blocks->axis))
        return blocks;
  return std::nullopt;
}

/// Stages whose rows are looked up by one that is scheduled are computed once for each of its rows, loop `row` of `stage`: in vectors along
/// the rows, or in blocks.
void compute_rows(Builder& b, int stage, const ir::Expr& body, const std::vector<te::Axis>& axes, const ir::Var& row, const Target& target,
                  std::optional<Contiguous> blocks = {}) {
  for (int i = 0; i < stage; ++i) {
    if (!takes_rows(b, i, body, axes)) continue;
    b.compute_at(i, stage, row);
    if (blocks) {
      compute_blocks(b, i, *blocks);
    } else if (const int64_t v = vector_length(b.at(i).op.axes.back().extent, target.lanes(b.at(i).op.output->dtype)); v > 1) {
      b.vectorize(i, b.split(i, b.loops(i).back(), {v})[1]);
    }
  }
}

/// The axes behind those of the blocks that are one run in memory, by the first of them.
size_t run_begin(const ir::Expr& body, const std::vector<te::Axis>& axes, const BlocksRead& blocks) {
  const size_t behind = static_cast<size_t>(blocks.axis) + 1;
  return behind + joined_from(body, std::vector<te::Axis>(axes.begin() + static_cast<std::ptrdiff_t>(behind), axes.end()));
}
/// Its elements.
int64_t last_run(const ir::Expr& body, const std::vector<te::Axis>& axes, const BlocksRead& blocks) {
  int64_t n = 1;
  for (size_t k = run_begin(body, axes, blocks); k < axes.size(); ++k) n *= axes[k].extent;
  return n;
}

/// An input in blocks, an output in rows: as many vectors along the last axes as a block has elements are made together, from whole blocks. Where the places in
/// a row are looked up, each block is computed at its place and blocks are turned into rows afterwards.
int schedule_unblocked(Builder& b, int stage, const ir::Expr& body, const BlocksRead& blocks, const Target& target) {
  const std::vector<te::Axis> axes = b.at(stage).op.axes;
  const bool kept = is_output(b, stage) && looks_up(body, axes.back().var);
  const int at_places = kept ? b.cache_write(stage, "local") : -1;
  if (at_places >= 0) stage = at_places + 1;
  const std::vector<ir::Var> loops = b.loops(stage);
  const auto axis = static_cast<size_t>(blocks.axis);
  const size_t first = run_begin(body, axes, blocks);
  const ir::Var run =
      first + 1 < loops.size() ? b.fuse(stage, std::vector<ir::Var>(loops.begin() + static_cast<std::ptrdiff_t>(first), loops.end())) : loops.back();
  const auto counting = loops.begin() + static_cast<std::ptrdiff_t>(blocks.from), after = loops.begin() + static_cast<std::ptrdiff_t>(axis) + 1;
  const auto rows = b.split(stage, blocks.from < axis ? b.fuse(stage, std::vector<ir::Var>(counting, after)) : loops[axis], {blocks.length});
  const auto columns = b.split(stage, run, {blocks.length});
  std::vector<ir::Var> outer(loops.begin(), counting);
  outer.push_back(rows[0]);
  outer.insert(outer.end(), after, loops.begin() + static_cast<std::ptrdiff_t>(first));
  std::vector<ir::Var> order = outer;
  order.insert(order.end(), {columns[0], rows[1], columns[1]});
  b.reorder(stage, order);
  b.unroll(stage, rows[1]);
  b.vectorize(stage, columns[1]);
  if (at_places >= 0) {
    b.compute_at(at_places, stage, columns[0]);
    compute_blocks(b, at_places, blocks);
    if (first > 0) compute_rows(b, stage, body, axes, outer[first - 1], target, blocks);
  }
  parallelize(b, stage, first_loops(b, stage, outer, pieces_for(target)), iterations(b.at(stage).op));
  return stage;
}

/// Blocks that are written out where elements move along them, at most.
constexpr int64_t kMaxMoved = 64;

/// Whether an input in blocks of one length is read at other places of them than those that are written: a shuffle of channels, a slice or concatenation that
/// begins inside a block.
bool moves_along_blocks(const Builder& b, const ir::Expr& body, const std::vector<te::Axis>& axes, size_t blocked, int64_t length) {
  bool moves = false;
  arith::Analyzer analyzer;
  for (const te::Axis& a : axes) analyzer.bind(a.var.get(), {0, a.extent - 1});
  const ir::Var& axis = axes[blocked].var;
  for_blocked_reads(b, body, [&](const ir::Expr& index, int64_t factor) {
    if (factor != length) return;
    const arith::Linear shift = analyzer.linear(index - ir::to_expr(axis));
    moves = moves || (ir::uses_var(index, axis.get()) && !(shift.is_constant() && shift.constant % length == 0));
  });
  return moves;
}

/// Blocks of a layout: memory is walked in its order, the innermost piece is the vector. Where the input lies along another axis, as many vectors as have
/// lanes are made together.
void schedule_blocked(Builder& b, int stage, int64_t lanes) {
  const std::vector<ir::Var> loops = b.loops(stage);
  const std::vector<te::Axis> axes = b.at(stage).op.axes;
  const ir::Expr body = schedule::whole_body(b.all(), stage);
  const Contiguous run = contiguous(b.at(stage));
  const auto vectors = static_cast<size_t>(run.axis);
  const int64_t v = vector_length(run.length, lanes), work = iterations(b.at(stage).op);
  if (v == 1)
    return parallelize(b, stage, std::vector<ir::Var>(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(1, loops.size() - 1))), work);
  const int across = crossing_axis(b, body, axes, vectors);
  size_t begin = static_cast<size_t>(across), end = begin + 1;
  const bool after = across > run.axis;
  if (after) {
    begin = joined_from(body, std::vector<te::Axis>(axes.begin() + run.axis + 1, axes.begin() + across + 1)) + vectors + 1;
  } else if (across < 0) {
    begin = end = loops.size();
  }
  // Which vectors of the input hold a block's elements is known where the block is: all of them are written out at one position of the others.
  const int64_t blocks = (axes[vectors].extent + v - 1) / v;
  const bool moved = across < 0 && blocks <= kMaxMoved && loops.size() > 1 && moves_along_blocks(b, body, axes, vectors, v);
  std::vector<ir::Var> walk, written_out, lane, inner;  // inner: along the input's rows, where the output's loops have them outside
  for (size_t k = 0; k < loops.size(); ++k) {
    if (k == begin) {
      const ir::Var joined =
          end - begin > 1
              ? b.fuse(stage, std::vector<ir::Var>(loops.begin() + static_cast<std::ptrdiff_t>(begin), loops.begin() + static_cast<std::ptrdiff_t>(end)))
              : loops[k];
      const auto rows = b.split(stage, joined, {v});
      b.unroll(stage, rows[1]);
      (after ? walk : inner).push_back(rows[0]);
      written_out.push_back(rows[1]);
      k = end - 1;
    } else if (k == vectors) {
      const auto parts = b.split(stage, loops[k], {v});
      b.vectorize(stage, parts[1]);
      if (moved) b.unroll(stage, parts[0]);
      (moved ? written_out : walk).push_back(parts[0]);
      lane.push_back(parts[1]);
    } else {
      walk.push_back(loops[k]);
    }
  }
  std::vector<ir::Var> order = walk;
  for (const auto* loops_inside : {&inner, &written_out, &lane}) order.insert(order.end(), loops_inside->begin(), loops_inside->end());
  b.reorder(stage, order);
  if (walk.size() > 1 && inner.empty()) walk.pop_back();
  parallelize(b, stage, walk, work);
}

/// Square blocks: as many vectors are read along one axis as are written along the other, and transposed on the way.
void schedule_transpose(Builder& b, int stage, const ir::Expr& body, int across, size_t first, const Target& target) {
  const std::vector<te::Axis> axes = b.at(stage).op.axes;
  const std::vector<ir::Var> loops = b.loops(stage);
  const auto join = [&](size_t from, size_t to) {
    return to - from > 1
               ? b.fuse(stage, std::vector<ir::Var>(loops.begin() + static_cast<std::ptrdiff_t>(from), loops.begin() + static_cast<std::ptrdiff_t>(to)))
               : loops[from];
  };
  const size_t end = static_cast<size_t>(across) + 1;
  const size_t begin = joined_from(body, std::vector<te::Axis>(axes.begin(), axes.begin() + across + 1));
  const int64_t block = std::min<int64_t>(kMaxBlock, target.lanes(b.at(stage).op.output->dtype));
  // Tiles of several blocks each way use whole stretches of memory, as far as the lines read together do not evict each other.
  const int64_t stride = std::max<int64_t>(1, stride_of_last(body, axes)) * b.at(stage).op.output->dtype.bytes(), way = target.l2_bytes / kWays;
  const int64_t together = kWays * (way / std::gcd(stride, way));
  int64_t height = 1, width = 1;
  for (size_t k = begin; k < end; ++k) height *= axes[k].extent;
  for (size_t k = first; k < axes.size(); ++k) width *= axes[k].extent;
  const auto fits = [&](int64_t extent, int64_t tile) { return extent % (tile * block) == 0 || extent >= 32 * tile * block; };
  const auto tile_of = [&](int64_t extent) {
    int64_t tile = kTile;
    while (tile > 1 && (tile * block > together || !fits(extent, tile))) tile /= 2;
    return tile;
  };
  const auto columns = b.split(stage, join(first, axes.size()), {tile_of(width), block});
  const auto rows = b.split(stage, join(begin, end), {tile_of(height), block});
  std::vector<ir::Var> outer(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(begin));
  outer.insert(outer.end(), loops.begin() + static_cast<std::ptrdiff_t>(end), loops.begin() + static_cast<std::ptrdiff_t>(first));
  // Inside, the input is walked in its order: reads are fetched ahead, writes need not be.
  outer.push_back(columns[0]);
  std::vector<ir::Var> order = outer;
  order.insert(order.end(), {rows[0], rows[1], columns[1], rows[2], columns[2]});
  b.reorder(stage, order);
  b.unroll(stage, rows[2]);
  b.vectorize(stage, columns[2]);
  parallelize(b, stage, first_loops(b, stage, outer, pieces_for(target)), iterations(b.at(stage).op));
}

/// A vector length of whole short runs rather than `v`, if such vectors fill a row and half a register: of each element it is known which run it lies in, as
/// where images are made three times as wide.
int64_t within_runs(int64_t v, int64_t run, int64_t length, int64_t lanes) {
  if (run <= 1 || run > lanes || v % run == 0) return v;
  const int64_t most = lanes / run * run;
  for (int64_t whole = most; 2 * whole >= lanes; whole -= run)
    if (length % whole == 0) return whole;
  return length > most ? most : v;
}

/// The outer loops in the order in which the largest read walks through memory: it waits for what it reads, not for what is written.
std::vector<ir::Var> in_input_order(const ir::Expr& body, const std::vector<te::Axis>& axes, const std::vector<ir::Var>& outer) {
  const std::vector<Read> reads = reads_of(body, axes);
  const auto largest = std::max_element(reads.begin(), reads.end(), [](const Read& a, const Read& b) { return a.buffer->bytes() < b.buffer->bytes(); });
  std::vector<size_t> order;
  for (size_t k = 0; k < outer.size(); ++k) order.push_back(k);
  const bool known = largest != reads.end() && std::all_of(order.begin(), order.end(), [&](size_t k) { return largest->strides[k].value_or(0) > 0; });
  if (known) std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return *largest->strides[a] > *largest->strides[b]; });
  std::vector<ir::Var> out;
  for (const size_t k : order) out.push_back(outer[k]);
  return out;
}

/// Turns of an axis that are written out where each begins at another place of a block, at most.
constexpr int64_t kPlacesWrittenOut = 4;

/// The axis by whose turns vectors along the last one begin at another place of a block, as the 85 channels of each anchor of a detector do: written out, each
/// place is known and whole blocks are read. -1 if there is none, or if it has too many turns.
int placing_axis(const Builder& b, const ir::Expr& body, const std::vector<te::Axis>& axes) {
  int found = -1;
  arith::Analyzer analyzer;
  for (const te::Axis& a : axes) analyzer.bind(a.var.get(), {0, a.extent - 1});
  for_blocked_reads(b, body, [&](const ir::Expr& index, int64_t length) {
    const arith::Linear at = analyzer.linear(index);
    const auto steps = [&](const te::Axis& a) {
      const auto t = std::find_if(at.terms.begin(), at.terms.end(), [&](const arith::Linear::Term& term) { return term.atom.get() == a.var.get(); });
      return t == at.terms.end() ? 0 : t->coeff;
    };
    if (length < 2 || steps(axes.back()) != 1) return;
    for (size_t k = 0; k + 1 < axes.size(); ++k)
      if (axes[k].extent > 1 && axes[k].extent <= kPlacesWrittenOut && steps(axes[k]) % length != 0) found = static_cast<int>(k);
  });
  return found;
}

}  // namespace

bool is_output(const Builder& b, int stage) { return std::find(b.outputs().begin(), b.outputs().end(), stage) != b.outputs().end(); }

bool looks_up_in_rows(const ir::Expr& body, const ir::Var& last, const ir::BufferNode* array) {
  int reads = 0;
  bool all = true;
  ir::walk(body, [&](const ir::Expr& e) {
    const auto* l = ir::as<ir::LoadNode>(e);
    if (!l || l->buffer.get() != array) return;
    ++reads;
    all = all && looked_up(*l, last);
  });
  return all && reads > 1;
}

bool reads_across(const Builder& b, int stage) {
  if (!b.at(stage).layout.empty() || b.at(stage).op.reducer != te::Reducer::none || b.at(stage).op.axes.empty()) return false;
  const ir::Expr body = schedule::whole_body(b.all(), stage);
  const std::vector<te::Axis>& axes = b.at(stage).op.axes;
  const int across = crossing_axis(b, body, axes, static_cast<size_t>(contiguous(b.at(stage)).axis));
  return across >= 0 && static_cast<size_t>(across) < joined_from(body, axes);
}

int schedule_elementwise(Builder& b, int stage, const Target& target) {
  std::vector<ir::Var> outer = b.loops(stage);
  if (outer.empty()) return stage;
  const int64_t lanes = target.lanes(b.at(stage).op.output->dtype), work = iterations(b.at(stage).op);
  if (!b.at(stage).layout.empty()) {
    schedule_blocked(b, stage, lanes);
    return stage;
  }

  const std::vector<te::Axis> axes = b.at(stage).op.axes;
  const ir::Expr body = schedule::whole_body(b.all(), stage);
  std::optional<BlocksRead> blocks = blocks_of_input(b, body, axes);
  if (!blocks) blocks = blocks_of_rows(b, stage, body, axes);
  // Blocks that are computed at places which a table says are those of one axis.
  if (blocks && blocks->from < static_cast<size_t>(blocks->axis) && looks_up(body, axes.back().var)) blocks.reset();
  if (blocks && lanes > 1 && last_run(body, axes, *blocks) >= blocks->length) return schedule_unblocked(b, stage, body, *blocks, target);
  const size_t first = joined_from(body, axes);
  if (const int across = crossing_axis(b, body, axes, static_cast<size_t>(contiguous(b.at(stage)).axis));
      across >= 0 && static_cast<size_t>(across) < first && lanes > 1) {
    schedule_transpose(b, stage, body, across, first, target);
    return stage;
  }
  ir::Var run = outer.back();
  int64_t length = 1, rows = 1;
  for (size_t k = 0; k < axes.size(); ++k) (k < first ? rows : length) *= axes[k].extent;
  if (first + 1 < axes.size()) run = b.fuse(stage, std::vector<ir::Var>(outer.begin() + static_cast<std::ptrdiff_t>(first), outer.end()));
  outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(first), outer.end());

  const int64_t unbroken = length == axes[first].extent ? unbroken_run(body, axes, axes[first], lanes) : length;
  std::optional<ir::Var> runs;
  if (unbroken < length && unbroken >= lanes && lanes > 1) {
    const auto parts = b.split(stage, run, {unbroken});
    runs = parts[0], run = parts[1];
    rows *= (length + unbroken - 1) / unbroken, length = unbroken;
  }
  const int64_t v = within_runs(vector_length(4 * unbroken >= lanes ? unbroken : length, lanes), unbroken, length, lanes), vectors = (length + v - 1) / v,
                pieces = pieces_for(target);
  if (rows >= pieces || vectors == 1) {
    const int placing = v > 1 && first + 1 == axes.size() ? placing_axis(b, body, axes) : -1;
    const std::optional<ir::Var> places = placing < 0 ? std::nullopt : std::optional(outer[static_cast<size_t>(placing)]);
    outer = in_input_order(body, axes, outer);
    if (places) std::erase_if(outer, [&](const ir::Var& loop) { return loop.get() == places->get(); });
    const std::optional<ir::Var> row = outer.empty() ? std::nullopt : std::optional(outer.back());
    if (runs) outer.push_back(*runs);
    std::vector<ir::Var> order = outer;
    if (places) {
      b.unroll(stage, *places);
      order.push_back(*places);
    }
    if (v > 1) {
      const auto parts = b.split(stage, run, {v});
      b.vectorize(stage, parts.back());
      order.insert(order.end(), parts.begin(), parts.end());
    } else {
      order.push_back(run);
    }
    b.reorder(stage, order);
    if (row) compute_rows(b, stage, body, axes, *row, target);
    parallelize(b, stage, first_loops(b, stage, outer, pieces), work);
    return stage;
  }
  if (runs) outer.push_back(*runs);
  // Few rows: each is cut into blocks of whole vectors.
  const int64_t most = std::max<int64_t>(1, vectors * rows / pieces);
  int64_t block = divisor_up_to(vectors, most);
  // As long as each other: what a last one lacks would be run through with nothing to do.
  if (const int64_t count = (vectors + most - 1) / most; block < most / 4) block = (vectors + count - 1) / count;
  const auto parts = b.split(stage, run, {block, v});
  if (v > 1) b.vectorize(stage, parts[2]);
  outer.push_back(parts[0]);
  parallelize(b, stage, outer, work);
  return stage;
}

}  // namespace tw::space::rules
