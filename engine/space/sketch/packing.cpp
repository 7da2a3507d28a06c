// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/packing.h"

#include <algorithm>
#include <map>
#include <optional>

#include "engine/lower/loop_extents.h"
#include "engine/schedule/loops.h"

namespace tw::space {

namespace {

using schedule::LayoutStep;
using schedule::Stage;

/// A part of an axis: `steps` steps of `stride` elements.
struct Digit {
  const ir::VarNode* axis;
  int64_t stride, steps;
};
using Digits = std::vector<Digit>;  ///< outer to inner

/// What each loop of a stage counts. Empty for pieces of joined loops.
std::map<const ir::VarNode*, Digits> digits_of(const Stage& st) {
  std::map<const ir::VarNode*, Digits> out;
  for (const std::vector<te::Axis>* axes : {&st.op.axes, &st.op.reduce_axes})
    for (const te::Axis& a : *axes) out[a.var.get()] = {{a.var.get(), 1, a.extent}};
  for (const schedule::Relation& r : st.relations) {
    if (const auto* split = std::get_if<schedule::SplitRelation>(&r)) {
      const Digits parent = out[split->parent.get()];
      if (parent.size() != 1) continue;
      Digit d = parent[0];
      int64_t inner = 1;
      for (size_t k = split->lengths.size(); k-- > 0; inner *= split->lengths[k]) out[split->children[k + 1].get()] = {{d.axis, d.stride * inner, split->lengths[k]}};
      out[split->children[0].get()] = {{d.axis, d.stride * inner, (d.steps + inner - 1) / inner}};
    } else {
      const auto& fuse = std::get<schedule::FuseRelation>(r);
      Digits& joined = out[fuse.child.get()];
      for (const ir::Var& parent : fuse.parents) {
        const Digits part = out[parent.get()];
        joined.insert(joined.end(), part.begin(), part.end());
      }
    }
  }
  return out;
}

/// The axis that walks each dimension of an array in the one place where a stage reads it; none if it is read otherwise.
std::optional<std::vector<const ir::VarNode*>> walked_by(const Stage& reader, const ir::BufferNode& array) {
  std::optional<std::vector<const ir::VarNode*>> out;
  bool plain = true;
  ir::walk(*reader.op.body, [&](const ir::Expr& e) {
    const auto* load = ir::as<ir::LoadNode>(e);
    if (load == nullptr || load->buffer.get() != &array) return;
    std::vector<const ir::VarNode*> axes;
    for (const ir::Expr& at : load->indices) {
      axes.push_back(ir::as<ir::VarNode>(at));
      plain = plain && (axes.back() != nullptr || ir::as_int(at));
    }
    plain = plain && (!out || *out == axes);
    out = std::move(axes);
  });
  return plain ? out : std::nullopt;
}

/// The digits of a stage's loops from the outermost to the innermost, those first that are counted by the loops around the place where it is computed. None
/// where a joined loop runs over a part of what it joins.
std::optional<Digits> walk_of(const Stage& reader, int stage, const lower::LoopExtents& extents) {
  const auto digits = digits_of(reader);
  Digits around, own;
  for (const schedule::Iter& loop : reader.iters) {
    const auto counts = digits.find(loop.var.get());
    if (counts == digits.end() || counts->second.empty()) return std::nullopt;
    int64_t all = 1;
    for (const Digit& d : counts->second) all *= d.steps;
    const int64_t here = extents.of(stage, loop);
    if (here < all) {
      if (counts->second.size() != 1) return std::nullopt;
      const Digit& d = counts->second[0];
      around.push_back({d.axis, d.stride * here, (d.steps + here - 1) / here});
      own.push_back({d.axis, d.stride, here});
    } else {
      own.insert(own.end(), counts->second.begin(), counts->second.end());
    }
  }
  around.insert(around.end(), own.begin(), own.end());
  return around;
}

std::optional<std::vector<LayoutStep::Piece>> pieces_of(const Stage& reader, int stage, const lower::LoopExtents& extents, const ir::BufferNode& array) {
  const auto axes = walked_by(reader, array);
  const auto walk = walk_of(reader, stage, extents);
  if (!axes || !walk) return std::nullopt;
  std::vector<LayoutStep::Piece> out;
  std::vector<int64_t> last(axes->size(), 0);  // stride of the piece before; 0: none yet
  for (size_t d = 0; d < axes->size(); ++d)
    if ((*axes)[d] == nullptr) out.push_back({static_cast<int>(d), 0});
  for (const Digit& digit : *walk)
    for (size_t d = 0; d < axes->size(); ++d) {
      if ((*axes)[d] != digit.axis) continue;
      if (last[d] != 0 && last[d] != digit.stride * digit.steps) return std::nullopt;  // inner pieces outside
      const bool first = last[d] == 0;
      last[d] = digit.stride;
      if (first || digit.steps > 1) out.push_back({static_cast<int>(d), first ? 0 : digit.steps});
    }
  for (size_t d = 0; d < axes->size(); ++d)
    if ((*axes)[d] != nullptr && last[d] != 1) return std::nullopt;  // pieces of joined loops are missing
  return out;
}

}  // namespace

schedule::Schedule with_packed_constants(schedule::Schedule s) {
  const lower::LoopExtents extents(s);  // layouts of constants change none
  if (!extents.ok()) return s;
  for (int i = 0; i < static_cast<int>(s.stages().size()); ++i) {
    const Stage& st = s.stages()[static_cast<size_t>(i)];
    if (!st.op.is_placeholder() || st.op.role != te::Role::constant) continue;
    const std::vector<int> readers = schedule::readers_of(s.stages(), i);
    if (readers.size() != 1) continue;
    const Stage& reader = s.stages()[static_cast<size_t>(readers[0])];
    if (reader.location == schedule::ComputeLocation::inlined || reader.op.reduce_axes.empty() || reader.relations.empty()) continue;
    const auto pieces = pieces_of(reader, readers[0], extents, *st.op.output);
    if (!pieces) continue;
    if (auto packed = s.apply(LayoutStep{i, *pieces})) s = *std::move(packed);
  }
  return s;
}

std::vector<schedule::Step> without_packing(const te::Dag& dag, std::vector<schedule::Step> steps) {
  const auto packs = [&](const schedule::Step& step) {
    const auto* layout = std::get_if<LayoutStep>(&step);
    if (layout == nullptr || layout->stage < 0 || layout->stage >= static_cast<int>(dag.ops.size())) return false;
    const te::Op& op = dag.ops[static_cast<size_t>(layout->stage)];
    return op.is_placeholder() && op.role == te::Role::constant;
  };
  // Others that lay out a placeholder stand before the loops that read it are made.
  while (!steps.empty() && packs(steps.back())) steps.pop_back();
  return steps;
}

}  // namespace tw::space
