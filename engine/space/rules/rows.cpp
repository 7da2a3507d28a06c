// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "engine/ir/visit.h"
#include "engine/space/rules/access.h"
#include "engine/space/rules/members.h"
#include "engine/space/rules/rules.h"

namespace tw::space::rules {

using schedule::Builder;
using schedule::Stage;

namespace {

/// A reduction shorter than this is not worth partial sums.
constexpr int64_t kShortRow = 8;

/// Iterations from which a reduction to a few results is worth the detour over parts.
constexpr int64_t kLongReduction = 64 * kParallelWork;

/// Bytes of partial results that stay in the level-1 cache beside the rows that are added to them.
constexpr int64_t kPartialBytes = 8192;

/// Rows that make a part of their sum worth its own row of results.
constexpr int64_t kRowsAPiece = 32;

/// Members that one core computes row by row, or a few columns at a time.
struct Rows : Members {
  bool by_columns = false;  ///< the last axis is shared and what vectors run along
  bool reuse = false;       ///< some reduction reads elements more than once
};

/// How a reduction's reads run through memory: along a reduction axis (its position among them), along the output's last axis, or neither.
struct Direction {
  int along_reduction = -1;
  bool along_last = false, scattered_last = false, reuse = false;
};

Direction direction_of(const ir::Expr& body, const te::Op& op, int last) {
  Direction out;
  std::vector<te::Axis> axes = op.axes;
  axes.insert(axes.end(), op.reduce_axes.begin(), op.reduce_axes.end());
  for (const Read& r : reads_of(body, axes)) {
    for (size_t k = op.axes.size(); k < axes.size(); ++k)
      if (r.strides[k] == 1) out.along_reduction = static_cast<int>(k - op.axes.size());
    for (size_t k = 0; k < op.axes.size(); ++k) out.reuse = out.reuse || (r.strides[k] == 0 && op.axes[k].extent > 1);
    if (last < 0) continue;
    const auto stride = r.strides[static_cast<size_t>(last)];
    out.along_last = out.along_last || (stride && *stride >= 1 && *stride <= kShortStride);
    out.scattered_last = out.scattered_last || !stride || *stride < 0 || *stride > kShortStride;
  }
  return out;
}

/// The elements that a reduction finds one behind the other: outer reduction axes that continue the run in memory join the one that reads run along.
struct Run {
  size_t first;  ///< of the reduction axes that are joined
  int64_t length = 1;
  Run(const ir::Expr& body, const te::Op& op, int along) {
    const std::vector<te::Axis> axes(op.reduce_axes.begin(), op.reduce_axes.begin() + along + 1);
    first = joined_from(body, axes);
    for (size_t k = first; k < axes.size(); ++k) length *= axes[k].extent;
  }
};

std::optional<Rows> find_rows(const Builder& b, const std::vector<const ir::BufferNode*>& apart) {
  std::optional<Members> members = find_members(b, apart);
  if (!members) return std::nullopt;
  Rows rows{*std::move(members)};

  const bool last_shared = rows.shared.back();
  bool columns = last_shared, along_rows = true;
  for (const Member& m : rows.members) {
    const te::Op& op = b.at(m.stage).op;
    if (op.reducer == te::Reducer::none) continue;
    const ir::Expr body = schedule::whole_body(b.all(), m.stage);
    const Direction d = direction_of(body, op, last_shared ? m.axis_of.back() : -1);
    columns = columns && d.along_last && !d.scattered_last;
    along_rows = along_rows && d.along_reduction >= 0 && (!last_shared || Run(body, op, d.along_reduction).length >= kShortRow);
    rows.reuse = rows.reuse || d.reuse;
  }
  rows.by_columns = columns;
  return columns || along_rows ? std::optional(std::move(rows)) : std::nullopt;
}

void append(std::vector<ir::Var>& list, const std::vector<ir::Var>& more) { list.insert(list.end(), more.begin(), more.end()); }

/// Within a row: own axes that lie together become one loop of vectors.
void vectorize_own(Builder& b, const Member& m, const MemberLoops& l, const Target& target, const Choices& how) {
  std::vector<ir::Var> order = l.shared;
  append(order, l.own);
  b.reorder(m.stage, order);
  if (l.own.empty()) return;
  const size_t first = joined_from(schedule::whole_body(b.all(), m.stage), l.own_axes);
  int64_t length = 1;
  for (size_t k = first; k < l.own.size(); ++k) length *= l.own_axes[k].extent;
  const ir::Var run =
      first + 1 < l.own.size() ? b.fuse(m.stage, std::vector<ir::Var>(l.own.begin() + static_cast<std::ptrdiff_t>(first), l.own.end())) : l.own.back();
  const int64_t v = vector_length(length, target.lanes(b.at(m.stage).op.output->dtype)), unroll = divisor_up_to(std::max<int64_t>(1, length / v), how.unroll);
  if (v == 1) return;
  const auto parts = b.split(m.stage, run, unroll > 1 ? std::vector{unroll, v} : std::vector{v});
  if (unroll > 1) b.unroll(m.stage, parts[1]);
  b.vectorize(m.stage, parts.back());
}

/// A reduction along a row: whole vectors of partial results, several side by side.
void vectorize_reduction(Builder& b, const Member& m, const MemberLoops& l, const Target& target, const Choices& how) {
  const te::Op& op = b.at(m.stage).op;
  const ir::Expr body = schedule::whole_body(b.all(), m.stage);
  const int along = direction_of(body, op, -1).along_reduction;
  std::vector<ir::Var> order = l.shared, rest = l.reduce;
  append(order, l.own);
  if (along < 0) {
    append(order, l.reduce);
    return b.reorder(m.stage, order);
  }
  const auto [first, length] = Run(body, op, along);
  ir::Var run = l.reduce[static_cast<size_t>(along)];
  if (first < static_cast<size_t>(along))
    run = b.fuse(m.stage, std::vector<ir::Var>(l.reduce.begin() + static_cast<std::ptrdiff_t>(first), l.reduce.begin() + along + 1));
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(first), rest.begin() + along + 1);
  append(order, rest);
  const int64_t lanes = std::min<int64_t>(target.lanes(op.output->dtype), length);
  if (lanes < kShortRow / 2) {
    order.push_back(run);
    return b.reorder(m.stage, order);
  }
  const auto parts = b.split(m.stage, run, {std::clamp<int64_t>(length / lanes, 1, how.accumulators), lanes});
  append(order, parts);
  b.reorder(m.stage, order);
  b.unroll(m.stage, parts[1]);
  b.vectorize(m.stage, parts[2]);
}

/// A reduction over rows of neighbouring elements: one row after the other is added to the partial results of all columns, so that memory is read in one
/// stretch. `order` holds the loops outside of the reduction.
void add_up_rows(Builder& b, int stage, std::vector<ir::Var> order, std::vector<ir::Var> reduce, const ir::Var& columns, int64_t v, const Choices& how) {
  const auto parts = b.split(stage, columns, {how.accumulators, v});
  append(order, reduce);
  append(order, parts);
  b.reorder(stage, order);
  b.unroll(stage, parts[1]);
  if (v > 1) b.vectorize(stage, parts[2]);
}

void schedule_by_rows(Builder& b, const Rows& rows, const Target& target, const Choices& how, int64_t work) {
  const Member& out = rows.members.back();
  const MemberLoops l = loops_of(b, out, rows);
  vectorize_own(b, out, l, target, how);
  int64_t count = 1;
  for (size_t k = 0; k < rows.shared.size(); ++k)
    if (rows.shared[k]) count *= b.at(out.stage).op.axes[k].extent;
  const ir::Var row = l.shared.size() > 1 ? b.fuse(out.stage, l.shared) : l.shared.front();
  if (work >= kParallelWork && count > 1) b.parallel(out.stage, row);
  for (size_t m = rows.members.size() - 1; m-- > 0;) {
    const Member& member = rows.members[m];
    b.compute_at(member.stage, out.stage, row);
    const MemberLoops own = loops_of(b, member, rows);
    b.at(member.stage).op.reducer == te::Reducer::none ? vectorize_own(b, member, own, target, how) : vectorize_reduction(b, member, own, target, how);
  }
}

int64_t window_of(const te::Op& op) {
  int64_t window = 1;
  for (const te::Axis& a : op.reduce_axes) window *= a.extent;
  return window;
}

/// Whether the kernel is one long reduction over rows that reads each element once, and the copy out of its cache.
bool adds_up_rows(const Builder& b, const Rows& rows, const Choices& how) {
  if (rows.members.size() != 2) return false;
  const int stage = rows.members.front().stage;
  const te::Op& op = b.at(stage).op;
  if (op.reducer == te::Reducer::none || window_of(op) <= how.window) return false;
  int64_t largest = 0;
  for (const Read& r : reads_of(schedule::whole_body(b.all(), stage), op.axes)) largest = std::max(largest, r.buffer->num_elements());
  return largest >= iterations(op);
}

/// The register tile of a reduction whose vectors run along columns.
struct Tile {
  int axis = -1;  ///< of the output, beside the columns
  int64_t height = 1, vectors = 1;
  bool ragged = false;  ///< the height does not divide the axis
};

/// An axis along which the vectors that a reduction reads are the same, so that one read serves all rows of a tile; the last one. -1 if there is none.
int sharing_axis(const Builder& b, const Rows& rows) {
  const Member& m = rows.members.front();
  const std::vector<Read> reads = reads_of(schedule::whole_body(b.all(), m.stage), b.at(m.stage).op.axes);
  const auto last = static_cast<size_t>(m.axis_of.back());
  int found = -1;
  for (size_t k = 0; k + 1 < rows.shared.size(); ++k) {
    if (!rows.shared[k] || b.at(rows.output).op.axes[k].extent == 1) continue;
    bool vectors = false, shared = true;
    for (const Read& r : reads) {
      if (r.strides[last] == 0) continue;
      vectors = true;
      shared = shared && r.strides[static_cast<size_t>(m.axis_of[k])] == 0;
    }
    if (vectors && shared) found = static_cast<int>(k);
  }
  return found;
}

/// The vectors' length where what is read is used again, and multiplied more often than it is loaded: as few vectors as there may be, whatever their number of
/// lanes, of short rows one more if they divide it.
int64_t fewest_vectors(int64_t length, int64_t lanes) {
  const int64_t most = (length + lanes - 1) / lanes + (length <= 4 * lanes ? 1 : 0);
  for (int64_t v = lanes; v * most >= length && lanes >= 8; --v)
    if (length % v == 0) return v;
  return vector_length(length, lanes);
}

/// Lines of a tile whose results, a vector of operands for each of its columns and one element of the other operand stay in registers.
int64_t most_lines(int64_t vectors, const Target& target, const Choices& how) {
  return std::clamp<int64_t>((target.vector_registers - vectors - 1) / vectors, 1, 3 * how.accumulators);
}

/// Vectors of a line, and lines that read the same ones.
std::pair<int64_t, int64_t> even_tile(int64_t columns, int64_t lines, const Target& target, const Choices& how) {
  const auto even = [](int64_t n, int64_t limit) { return (n + (n + limit - 1) / limit - 1) / ((n + limit - 1) / limit); };
  const int64_t vectors = even(columns, target.vector_registers >= 32 ? how.accumulators : 2);
  return {vectors, even(lines, most_lines(vectors, target, how))};
}

/// A tile whose rows share what they read, or else rows within a group, or the vectors of one row.
Tile register_tile(const Builder& b, const Rows& rows, const Target& target, const Choices& how, int64_t columns) {
  const std::vector<te::Axis>& axes = b.at(rows.output).op.axes;
  Tile tile;
  tile.axis = sharing_axis(b, rows);
  if (tile.axis >= 0) {
    const int64_t extent = axes[static_cast<size_t>(tile.axis)].extent;
    std::tie(tile.vectors, tile.height) = even_tile(columns, extent, target, how);
    int64_t others = 1;
    for (size_t k = 0; k + 1 < axes.size(); ++k)
      if (rows.shared[k] && static_cast<int>(k) != tile.axis) others *= axes[k].extent;
    // A loop whose last turn differs is not shared out between cores.
    if (extent % tile.height != 0 && others < 2 * target.cores) tile.height = divisor_up_to(extent, most_lines(tile.vectors, target, how));
    tile.ragged = extent % tile.height != 0;
    return tile;
  }
  // Rows within a group, as of convolutions, read the same operands.
  const Member& m = rows.members.front();
  const te::Op& op = b.at(m.stage).op;
  const ir::Expr body = schedule::whole_body(b.all(), m.stage);
  for (const bool grouped : {true, false})  // else any axis: its rows share nothing but the other operand
    for (size_t k = 0; tile.axis < 0 && k + 1 < axes.size(); ++k) {
      if (!rows.shared[k]) continue;
      const int64_t run = unbroken_run(body, op.axes, op.axes[static_cast<size_t>(m.axis_of[k])], 0);
      const LineTile t = line_tile(axes.back().extent, run, op.output->dtype, target);
      if (t.height >= how.accumulators && (run < axes[k].extent || !grouped)) tile = {static_cast<int>(k), t.height, divisor_up_to(columns, t.vectors)};
    }
  if (tile.axis < 0) tile.vectors = divisor_up_to(columns, how.accumulators);
  return tile;
}

/// Whether rows of results that no cache keeps are made of several of a stage before, which the level-2 cache keeps: a few columns at a time would come back to
/// each page of the results soon, and to lines that are shared with the next columns. More of them go together then.
bool writes_past_caches(const Builder& b, const Rows& rows, const Target& target) {
  const te::Op& out = b.at(rows.members.back().stage).op;
  int64_t shared = 1, kept = 0;
  for (size_t k = 0; k + 1 < out.axes.size(); ++k) shared *= rows.shared[k] ? out.axes[k].extent : 1;
  if (out.output->num_elements() / shared == out.axes.back().extent || out.output->bytes() <= target.kept_bytes()) return false;
  for (size_t m = 0; m + 1 < rows.members.size(); ++m) kept += b.at(rows.members[m].stage).op.output->bytes() / shared;
  return kept > 0 && kept <= target.l2_bytes / 2;
}

/// A few vectors of neighbouring columns at a time go through all stages; with reuse, the same of a few rows.
void schedule_by_columns(Builder& b, const Rows& rows, const Target& target, const Choices& how, int64_t work) {
  const Member& out = rows.members.back();
  const te::Op& op = b.at(out.stage).op;
  const size_t rank = op.axes.size();
  const int64_t length = op.axes.back().extent, lanes = target.lanes(op.output->dtype);
  const int64_t v = rows.reuse ? fewest_vectors(length, lanes) : vector_length(length, lanes);
  const int64_t in_row = (length + v - 1) / v;
  Tile tile_of_registers{-1, 1, divisor_up_to(in_row, how.accumulators)};
  if (rows.reuse) tile_of_registers = register_tile(b, rows, target, how, in_row);
  const int tiled = tile_of_registers.axis;
  const int64_t height = tile_of_registers.height;
  const bool long_columns = tiled < 0 && adds_up_rows(b, rows, how);
  const bool far = !rows.reuse && writes_past_caches(b, rows, target);
  const int64_t most = far ? target.vector_registers / 2 : kPartialBytes / (v * op.output->dtype.bytes());
  const int64_t vectors = far || long_columns ? divisor_up_to(in_row, std::max<int64_t>(1, most)) : tile_of_registers.vectors;

  const std::vector<ir::Var> loops = b.loops(out.stage);
  const auto columns = b.split(out.stage, loops.back(), {vectors, v});
  std::vector<ir::Var> order, inner, outer, ragged;  // a loop whose last turn differs stands inside of those that are shared out
  for (size_t k = 0; k + 1 < rank; ++k) {
    if (static_cast<int>(k) == tiled) {
      const auto parts = b.split(out.stage, loops[k], {height});
      (tile_of_registers.ragged ? ragged : order).push_back(parts[0]);
      inner.push_back(parts[1]);
      b.unroll(out.stage, parts[1]);
      if (!tile_of_registers.ragged) outer.push_back(parts[0]);
    } else {
      (rows.shared[k] ? order : inner).push_back(loops[k]);
      if (rows.shared[k]) outer.push_back(loops[k]);
    }
  }
  append(order, ragged);
  order.push_back(columns[0]);
  // The blocks of columns stay a loop of their own inside a thread, unless there is little else to share out.
  int64_t pieces = 1;
  for (size_t k = 0; k + 1 < rank; ++k)
    if (rows.shared[k]) pieces *= op.axes[k].extent;
  if (pieces < 4 * target.cores && !tile_of_registers.ragged && in_row % vectors == 0) outer.push_back(columns[0]);
  append(order, inner);
  order.insert(order.end(), {columns[1], columns[2]});
  b.reorder(out.stage, order);
  if (!long_columns) b.unroll(out.stage, columns[1]);
  if (v > 1) b.vectorize(out.stage, columns[2]);
  ir::Var tile = columns[0];
  outer = first_loops(b, out.stage, outer, pieces_for(target, how));
  if (work >= kParallelWork && !outer.empty()) {
    const bool all = outer.back().same_as(tile);
    const ir::Var region = outer.size() == 1 ? outer.front() : b.fuse(out.stage, outer);
    b.parallel(out.stage, region);
    if (all) tile = region;
  }

  for (size_t m = rows.members.size() - 1; m-- > 0;) {
    const Member& member = rows.members[m];
    b.compute_at(member.stage, out.stage, tile);
    const std::vector<ir::Var> all = b.loops(member.stage);
    const MemberLoops l = loops_of(b, member, rows);
    const ir::Var last = all[static_cast<size_t>(member.axis_of.back())];
    if (long_columns) {
      std::vector<ir::Var> walk;
      for (const ir::Var& s : l.shared)
        if (!s.same_as(last)) walk.push_back(s);
      append(walk, l.own);
      add_up_rows(b, member.stage, std::move(walk), l.reduce, last, v, how);
      continue;
    }
    std::vector<ir::Var> walk, tail;
    for (const ir::Var& s : l.shared) {
      const bool is_tiled = tiled >= 0 && s.same_as(all[static_cast<size_t>(member.axis_of[static_cast<size_t>(tiled)])]);
      if (!s.same_as(last)) (is_tiled ? tail : walk).push_back(s);
      if (is_tiled) b.unroll(member.stage, s);
    }
    append(walk, l.own);
    append(walk, l.reduce);
    // A window written out shares its loads and costs no loops.
    for (const ir::Var& r : l.reduce)
      if (window_of(b.at(member.stage).op) <= how.window) b.unroll(member.stage, r);
    append(walk, tail);
    // Sums stay in registers where the last vector of a row is whole as well.
    if (b.at(member.stage).op.reducer != te::Reducer::none) whole_blocks(b, member.stage, member.axis_of.back(), v);
    const auto parts = b.split(member.stage, last, {v});
    append(walk, parts);
    b.reorder(member.stage, walk);
    b.unroll(member.stage, parts[0]);
    if (v > 1) b.vectorize(member.stage, parts[1]);
  }
}

/// Whether a reduction adds rows of neighbouring elements to one row of results that stays in cache.
bool is_one_row(const Builder& b, int stage) {
  const te::Op& op = b.at(stage).op;
  if (op.axes.empty() || op.output->num_elements() != op.axes.back().extent || op.output->bytes() > kPartialBytes) return false;
  const Direction d = direction_of(schedule::whole_body(b.all(), stage), op, static_cast<int>(op.axes.size()) - 1);
  return op.axes.back().extent > 1 && d.along_last && !d.scattered_last && !d.reuse;
}

/// A stage so many times smaller than the result is computed as a whole at little cost.
constexpr int64_t kSmallStage = 4;

}  // namespace

LineTile line_tile(int64_t columns, int64_t sharing, DType type, const Target& target) {
  constexpr int64_t kMostLines = 16;
  const int64_t v = fewest_vectors(columns, target.lanes(type)), vectors = divisor_up_to((columns + v - 1) / v, 2);
  return {v, vectors, divisor_up_to(sharing, std::clamp<int64_t>((target.vector_registers - vectors - 1) / vectors, 1, kMostLines))};
}

LineTile shared_tile(int64_t columns, int64_t lines, DType type, const Target& target) {
  const int64_t v = fewest_vectors(columns, target.lanes(type));
  const auto [vectors, height] = even_tile((columns + v - 1) / v, lines, target, {});
  return {v, vectors, height};
}

void schedule_row(Builder& b, int stage, size_t rows, const Target& target, const Choices& how) {
  const te::Op& op = b.at(stage).op;
  const std::vector<ir::Var> loops = b.loops(stage);
  const auto shared = loops.begin() + static_cast<std::ptrdiff_t>(rows), own = loops.begin() + static_cast<std::ptrdiff_t>(op.axes.size());
  const MemberLoops l{{loops.begin(), shared}, {shared, own}, {own, loops.end()}, {op.axes.begin() + static_cast<std::ptrdiff_t>(rows), op.axes.end()}};
  const Member m{stage, {}};
  op.reducer == te::Reducer::none ? vectorize_own(b, m, l, target, how) : vectorize_reduction(b, m, l, target, how);
}

std::vector<const ir::BufferNode*> split_reductions(Builder& b, const Target& target, const Choices& how) {
  std::vector<const ir::BufferNode*> parts;
  for (const Stage& st : b.all())
    if (!st.layout.empty()) return parts;
  for (int i = 0; b.ok() && i < b.num_stages(); ++i) {
    const te::Op& op = b.at(i).op;
    // A scalar has no rows that schedule_rows() could take.
    const bool scalar = op.axes.empty();
    if (op.reducer == te::Reducer::none || iterations(op) < (scalar ? kParallelWork : kLongReduction)) continue;
    const int64_t pieces = pieces_for(target, how);
    // One row of results, to which rows are added, is not cut into columns: each core would read little of every row.
    const bool one_row = is_one_row(b, i) && iterations(op) >= kRowsAPiece * pieces * op.output->num_elements();
    if (op.output->num_elements() >= target.cores && !one_row && !scalar) continue;
    // The outermost reduction axis with enough turns is cut into pieces.
    const auto axis = std::find_if(op.reduce_axes.begin(), op.reduce_axes.end(), [&](const te::Axis& a) { return a.extent >= pieces; });
    if (axis == op.reduce_axes.end()) continue;
    const int64_t length = (axis->extent + pieces - 1) / pieces;
    const auto position = op.axes.size() + static_cast<size_t>(axis - op.reduce_axes.begin());
    b.rfactor(i, b.split(i, b.loops(i)[position], {length})[0]);
    const std::vector<ir::Var> loops = b.loops(i);
    const te::Op& part = b.at(i).op;
    const auto spatial = static_cast<std::ptrdiff_t>(part.axes.size());
    const MemberLoops l{
        {loops.front()}, std::vector<ir::Var>(loops.begin() + 1, loops.begin() + spatial), std::vector<ir::Var>(loops.begin() + spatial, loops.end()), {}};
    b.parallel(i, loops.front());
    if (one_row)
      add_up_rows(b, i, std::vector<ir::Var>(loops.begin(), loops.begin() + spatial - 1), l.reduce, loops[static_cast<size_t>(spatial) - 1],
                  vector_length(part.axes.back().extent, target.lanes(part.output->dtype)), how);
    else
      vectorize_reduction(b, Member{i, {}}, l, target, how);
    parts.push_back(b.at(i).op.output.get());
    ++i;  // the sum of the parts
  }
  return parts;
}

bool schedule_rows(Builder& b, const Target& target, const Choices& how, const std::vector<const ir::BufferNode*>& done) {
  std::optional<Rows> rows = find_rows(b, done);
  if (!rows) return false;
  std::vector<int> apart;
  if (rows->reuse) {
    // What a reduction with reuse reads, such as a padded image, is computed once, not for every tile.
    std::vector<const ir::BufferNode*> arrays = done;
    for (const Member& m : rows->members)
      if (m.stage != rows->output && b.at(m.stage).op.reducer == te::Reducer::none) {
        apart.push_back(m.stage);
        arrays.push_back(b.at(m.stage).op.output.get());
      }
    rows = find_rows(b, arrays);
    if (!rows || rows->members.size() > 2) return false;
    for (const int i : apart)
      if (i > rows->members.front().stage) return false;
  }
  // A transpose whose other stages are small, as the norm of each row, turns whole blocks; one row of it would be gathered.
  const int64_t elements = iterations(b.at(rows->output).op);
  const auto small = [&](const Member& m) {
    const te::Op& op = b.at(m.stage).op;
    return m.stage == rows->output || (op.reducer == te::Reducer::none && kSmallStage * iterations(op) <= elements);
  };
  if (std::all_of(rows->members.begin(), rows->members.end(), small) && target.lanes(b.at(rows->output).op.output->dtype) > 1 && reads_across(b, rows->output))
    return false;
  int64_t work = 0, count = 1;
  for (size_t k = 0; k < rows->shared.size(); ++k)
    if (rows->shared[k]) count *= b.at(rows->output).op.axes[k].extent;
  for (const Member& m : rows->members) work += iterations(b.at(m.stage).op);
  // A few long rows leave cores idle: their stages share the cores one after the other instead.
  if (rows->members.size() > 1 && count < target.cores && work >= 16 * kParallelWork) return false;
  for (const int i : apart) schedule_elementwise(b, i, target);
  if (b.at(rows->output).op.reducer != te::Reducer::none) cache_output(b, *rows);
  rows->by_columns ? schedule_by_columns(b, *rows, target, how, work) : schedule_by_rows(b, *rows, target, how, work);
  return true;
}

}  // namespace tw::space::rules
