// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/ir/visit.h"
#include "engine/space/sketch/rules/rules.h"

namespace tw::space {

namespace {

/// Constants that a stage reads by one of its spatial axes.
struct Weights {
  int stage, dim;  ///< the placeholder, and its dimension that the axis walks
};

/// How one array is read along an axis: the dimension that it alone walks; -1: none, or in some reads another.
int dimension_of(const te::Op& op, const ir::Buffer& array, const ir::VarNode* axis) {
  int dim = -2;
  ir::walk(*op.body, [&](const ir::Expr& e) {
    const auto* load = ir::as<ir::LoadNode>(e);
    if (load == nullptr || !load->buffer.same_as(array)) return;
    int here = -1;
    for (size_t d = 0; d < load->indices.size(); ++d) {
      if (!ir::uses_var(load->indices[d], axis)) continue;
      here = here == -1 && load->indices[d].get() == static_cast<const ir::ExprNode*>(axis) ? static_cast<int>(d) : -3;
    }
    dim = dim == -2 || dim == here ? here : -3;
  });
  return std::max(dim, -1);
}

/// The constants that blocks pay for: read by an axis that walks nothing else, which is not the innermost already.
std::optional<Weights> weights_of(const SketchState& s, int stage) {
  const te::Op& op = s.stage(stage).op;
  const std::set<int> reads = s.access().direct_producers(stage);
  for (size_t a = 0; a < op.axes.size(); ++a) {
    const ir::VarNode* axis = op.axes[a].var.get();
    // The last axis is the innermost anyway, and packing lays out what it reads.
    if (op.axes[a].extent < s.target().lanes(op.output->dtype) || a + 1 == op.axes.size()) continue;
    std::optional<Weights> found;
    int walked = 0;
    for (const int p : reads) {
      const schedule::Stage& array = s.stage(p);
      bool uses = false;
      ir::walk(*op.body, [&](const ir::Expr& e) {
        const auto* load = ir::as<ir::LoadNode>(e);
        uses = uses || (load && load->buffer.same_as(array.op.output) &&
                        std::any_of(load->indices.begin(), load->indices.end(), [&](const ir::Expr& i) { return ir::uses_var(i, axis); }));
      });
      if (!uses) continue;
      ++walked;
      const int dim = dimension_of(op, array.op.output, axis);
      const bool constant = array.op.is_placeholder() && array.op.role == te::Role::constant && array.layout.empty();
      if (constant && dim >= 0 && schedule::readers_of(s.schedule().stages(), p).size() == 1) found = Weights{p, dim};
    }
    if (walked == 1 && found) return found;
  }
  return std::nullopt;
}

RuleFit fits_blocks_of_channels(const SketchState& s, int stage) {
  const bool pays = !s.options().exact && s.needs_tiling(stage) && blocked_axis(s, stage) < 0 && !s.is_cache_written(stage) && weights_of(s, stage);
  return pays ? RuleFit::apply_and_end : RuleFit::skip;
}

Derived block_weights(const SketchState& s, int stage) {
  const Weights w = *weights_of(s, stage);
  SketchState next = s;
  schedule::LayoutStep layout{w.stage, {}};
  for (int d = 0; d < static_cast<int>(s.stage(w.stage).op.output->shape.size()); ++d) layout.pieces.push_back({d, 0});
  layout.pieces.push_back({w.dim, s.target().lanes(s.stage(stage).op.output->dtype)});
  next.apply(layout);
  return {{next, stage}};  // whose tiles now end with that axis
}

}  // namespace

int axis_of_blocked_constants(const SketchState& s, int stage) {
  const te::Op& op = s.stage(stage).op;
  const std::set<int> reads = s.access().direct_producers(stage);
  for (const int p : reads) {
    const schedule::Stage& array = s.stage(p);
    if (!array.op.is_placeholder() || array.op.role != te::Role::constant || array.layout.empty() || array.layout.back().factor == 0) continue;
    for (size_t a = 0; a < op.axes.size(); ++a)
      if (dimension_of(op, array.op.output, op.axes[a].var.get()) == array.layout.back().dim) return static_cast<int>(a);
  }
  return -1;
}

int blocked_axis(const SketchState& s, int stage) {
  for (int at = stage; at >= 0; at = s.matched_consumer(at))
    if (const auto& layout = s.stage(at).layout; !layout.empty() && layout.back().factor > 0) return layout.back().dim;
  return axis_of_blocked_constants(s, stage);
}

SketchRule block_channels_rule() {
  return {"block-channels", true, false, fits_blocks_of_channels, block_weights,
          "Lays constants out in blocks of as many channels as a vector has lanes, and makes their loop the innermost."};
}

}  // namespace tw::space
