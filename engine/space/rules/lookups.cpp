// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/ir/visit.h"
#include "engine/space/rules/access.h"
#include "engine/space/rules/members.h"
#include "engine/space/rules/rules.h"

namespace tw::space::rules {

using schedule::Builder;
using schedule::Stage;

namespace {

/// Places, each a row of the block that is turned, and vectors of each of them.
constexpr int64_t kMostPlaces = 16, kMostVectors = 4;

/// The axis along which all that is looked up by the place along the last axis lies in memory, where nothing else strides along it; -1 if there is none.
int axis_of_rows(const ir::Expr& body, const std::vector<te::Axis>& axes, size_t last) {
  const std::vector<Read> reads = reads_of(body, axes);
  for (size_t k = 0; k < last; ++k) {
    bool found = axes[k].extent >= kFewestInRow;
    for (const Read& r : reads) found = found && (r.strides[last] ? r.strides[k] == 0 || r.strides[k] == 1 : r.strides[k] == 1);
    if (found) return static_cast<int>(k);
  }
  return -1;
}

/// Per stage: whether others look its elements up at places that are worked out, or such a one is made from it.
std::vector<bool> sources(const Builder& b) {
  std::vector<bool> found(static_cast<size_t>(b.num_stages()));
  const auto stage_of = [&](const ir::BufferNode* array) {
    for (int i = 0; i < b.num_stages(); ++i)
      if (b.at(i).op.output.get() == array) return i;
    return -1;
  };
  for (int i = b.num_stages(); i-- > 0;) {
    if (!schedule::has_loops(b.at(i))) continue;
    ir::walk(schedule::whole_body(b.all(), i), [&](const ir::Expr& e) {
      const auto* l = ir::as<ir::LoadNode>(e);
      const int made_by = l ? stage_of(l->buffer.get()) : -1;
      if (made_by < 0) return;
      if (found[static_cast<size_t>(i)] || worked_out(*l)) found[static_cast<size_t>(made_by)] = true;
    });
  }
  return found;
}

/// Rows that are looked up, written side by side: a few whole rows are computed at a time, in vectors along them, and turned as they are written. The members
/// are what their places are worked out by, for all places along the last axis at once.
void schedule_rows_looked_up(Builder& b, const std::vector<int>& members, size_t axis, size_t last, const Target& target) {
  const int output = b.outputs().front();
  const std::vector<te::Axis> axes = b.at(output).op.axes;
  const int64_t block = std::min<int64_t>(target.lanes(b.at(output).op.output->dtype), kMostPlaces);
  const int64_t vectors = std::min(kMostVectors, (axes[axis].extent + block - 1) / block);
  const int at_places = b.cache_write(output, "local"), stage = at_places + 1;
  const std::vector<ir::Var> loops = b.loops(stage);
  const auto rows = b.split(stage, loops[axis], {vectors, block});
  const auto columns = b.split(stage, loops[last], {block});
  std::vector<ir::Var> outer;
  for (size_t k = 0; k < last; ++k)
    if (k != axis) outer.push_back(loops[k]);
  std::vector<ir::Var> order = outer;
  order.push_back(rows[0]);
  order.insert(order.end(), loops.begin() + static_cast<std::ptrdiff_t>(last) + 1, loops.end());  // of one element
  order.insert(order.end(), {columns[0], rows[1], rows[2], columns[1]});
  b.reorder(stage, order);
  b.unroll(stage, rows[2]);
  b.vectorize(stage, columns[1]);
  b.compute_at(at_places, stage, columns[0]);
  whole_blocks(b, at_places, static_cast<int>(axis), block);
  std::vector<ir::Var> places = b.loops(at_places);
  const auto row = b.split(at_places, places[axis], {block});
  places.erase(places.begin() + static_cast<std::ptrdiff_t>(axis));
  places.insert(places.end(), row.begin(), row.end());
  b.reorder(at_places, places);
  b.unroll(at_places, row[0]);
  b.vectorize(at_places, row[1]);

  if (outer.empty()) outer.push_back(rows[0]);
  const std::vector<ir::Var> shared_out = first_loops(b, stage, outer, pieces_for(target));
  if (!members.empty() && shared_out.size() == outer.size()) outer = {outer.size() > 1 ? b.fuse(stage, outer) : outer.front()};
  for (size_t m = members.size(); m-- > 0;) {
    b.compute_at(members[m], stage, outer.back());
    const Contiguous run = contiguous(b.at(members[m]));
    if (const int64_t v = vector_length(run.length, target.lanes(b.at(members[m]).op.output->dtype)); v > 1)
      b.vectorize(members[m], b.split(members[m], b.loops(members[m])[static_cast<size_t>(run.axis)], {v})[1]);
  }
  parallelize(b, stage, outer.size() == 1 ? outer : shared_out, iterations(b.at(stage).op));
}

}  // namespace

std::vector<const ir::BufferNode*> schedule_lookups(Builder& b, const Target& target) {
  if (b.outputs().size() != 1) return {};
  const int output = b.outputs().front();
  const te::Op& op = b.at(output).op;
  if (op.axes.empty() || op.reducer != te::Reducer::none || !schedule::has_loops(b.at(output))) return {};
  const std::vector<te::Axis> axes = op.axes;
  const ir::Expr body = schedule::whole_body(b.all(), output);
  const auto last = static_cast<size_t>(contiguous(b.at(output)).axis);
  const int64_t lanes = target.lanes(op.output->dtype);
  if (lanes == 1 || !looks_up(body, axes[last].var)) return {};
  const std::vector<bool> whole = sources(b);
  std::vector<int> first, members;
  for (int i = 0; i < b.num_stages(); ++i) {
    const Stage& st = b.at(i);
    if (!st.layout.empty()) return {};
    if (!schedule::has_loops(st) || i == output) continue;
    if (st.op.reducer != te::Reducer::none || i > output) return {};
    (whole[static_cast<size_t>(i)] ? first : members).push_back(i);
  }
  const int axis = 2 * axes[last].extent >= lanes ? axis_of_rows(body, axes, last) : -1;
  if (axis < 0 && members.empty()) return {};
  std::vector<const ir::BufferNode*> done;
  for (const int i : first) {
    schedule_elementwise(b, i, target);
    done.push_back(b.at(i).op.output.get());
  }
  if (axis < 0) return done;
  // Places are worked out row by row if all that does so knows the row.
  const auto found = members.empty() ? std::nullopt : find_members(b, done);
  bool by_rows = found.has_value();
  for (size_t k = 0; by_rows && k < axes.size(); ++k) by_rows = found->shared[k] || static_cast<int>(k) == axis || axes[k].extent == 1;
  bool rows = false;
  for (size_t k = 0; k < last; ++k) rows = rows || (static_cast<int>(k) != axis && axes[k].extent > 1);
  for (const int i : members) {
    done.push_back(b.at(i).op.output.get());
    if (!by_rows || !rows) schedule_elementwise(b, i, target);
  }
  done.push_back(op.output.get());
  schedule_rows_looked_up(b, by_rows && rows ? members : std::vector<int>{}, static_cast<size_t>(axis), last, target);
  return done;
}

}  // namespace tw::space::rules
