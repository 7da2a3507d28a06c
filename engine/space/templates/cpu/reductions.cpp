// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cpu/reductions.h"

#include <algorithm>

#include "engine/ir/visit.h"
#include "engine/space/rules/access.h"
#include "engine/space/rules/rules.h"
#include "engine/space/templates/cpu/blocked.h"

namespace tw::space::cpu {

namespace {

/// Windows with more elements are never written out.
constexpr int64_t kLargestWindow = 49;

struct Reductions {
  bool pool = false, image = false;  ///< image: pools, and means over whole images, run along blocks of channels
  bool shared_out = false;           ///< the number of parallel pieces is open
  bool elementwise = false;          ///< some stage computes element by element
  int64_t window = 1;
  int data = -1;  ///< what an image's reduction reads, behind its padding
  bool window_open() const { return pool && window > 1 && window <= kLargestWindow; }
  bool unroll_open() const { return elementwise && !pool; }
};

/// The one array that a reduction reads along its reduction axes, at whose last indices those axes stand unless it is a pool. Null for others, such as
/// products.
const ir::LoadNode* reduced_read(const te::Op& op) {
  const ir::LoadNode* found = nullptr;
  bool one = true;
  const auto is_reduced = [&](const ir::Expr& i) {
    return std::any_of(op.reduce_axes.begin(), op.reduce_axes.end(), [&](const te::Axis& r) { return ir::uses_var(i, r.var.get()); });
  };
  ir::walk(*op.body, [&](const ir::Expr& e) {
    const auto* l = ir::as<ir::LoadNode>(e);
    if (!l || std::none_of(l->indices.begin(), l->indices.end(), is_reduced)) return;
    one = one && (!found || found->buffer.same_as(l->buffer));
    found = l;
  });
  if (!one || !found || op.tag == "pool") return one ? found : nullptr;
  const size_t first = found->indices.size() - std::min(found->indices.size(), op.reduce_axes.size());
  for (size_t d = 0; d < found->indices.size(); ++d)
    if (is_reduced(found->indices[d]) != (d >= first) || (d >= first && !ir::as<ir::VarNode>(found->indices[d]))) return nullptr;
  return found;
}

std::optional<Reductions> find_reductions(const te::Dag& dag, const Target& target) {
  if (dag.outputs.size() != 1) return std::nullopt;
  Reductions r;
  int count = 0;
  const te::Op* image = nullptr;
  for (const te::Op& op : dag.ops) {
    if (op.is_placeholder()) continue;
    if (op.reducer == te::Reducer::none) {
      r.elementwise = true;
      continue;
    }
    const ir::LoadNode* read = reduced_read(op);
    if (!read) return std::nullopt;
    ++count;
    r.pool = op.tag == "pool";
    if (!r.pool && op.reduce_axes.size() == 1) continue;
    const auto rank = static_cast<int64_t>(read->indices.size());
    if (rank < 3 || (!r.pool && static_cast<int64_t>(op.reduce_axes.size()) != rank - 2)) return std::nullopt;
    image = &op;
    r.data = dag.op_of(read->buffer.get());
    for (const te::Axis& a : op.reduce_axes) r.window *= a.extent;
    const te::Op& source = dag.ops[static_cast<size_t>(r.data)];
    if (source.tag != "pad") continue;
    ir::walk(*source.body, [&](const ir::Expr& e) {
      if (const auto* l = ir::as<ir::LoadNode>(e)) r.data = dag.op_of(l->buffer.get());
    });
  }
  if (count == 0 || (image && count > 1)) return std::nullopt;
  r.image = image && dag.ops[static_cast<size_t>(r.data)].is_placeholder() && channel_block(dag.ops[static_cast<size_t>(r.data)].output->shape[1], target) > 1;
  r.shared_out = target.cores > 1 && image;
  return r;
}

}  // namespace

bool reductions_matches(const te::Dag& dag, const Target& target) { return find_reductions(dag, target).has_value(); }

ConfigSpace reductions_space(const te::Dag& dag, const Target& target) {
  const Reductions r = *find_reductions(dag, target);
  ConfigSpace space;
  space.define_knob("accumulators", {2, 3, 4, 6, 8}, "vectors that a reduction keeps in registers side by side");
  if (r.pool && r.window > 1 && r.window <= kLargestWindow)
    space.define_knob("unroll_window", {0, 1}, "1: the window is written out, so that neighbours share loads");
  if (r.unroll_open()) space.define_knob("unroll", {1, 2, 4}, "vectors written out of stages that compute element by element");
  if (r.shared_out) space.define_knob("pieces", {1, 2, 4, 8, 16}, "of parallel work for each core");
  return space;
}

/// None: the schedule by rule makes the same loops, and adopts the layouts of its neighbours.
ConfigEntity reductions_fallback(const te::Dag&, const Target&) { return {}; }

Expected<schedule::Schedule> reductions_in_layouts(const te::DagPtr& dag, const Target& target, const ConfigEntity& e,
                                                   const std::vector<schedule::LayoutStep>& layouts) {
  const Reductions r = *find_reductions(*dag, target);
  rules::Choices how;
  how.accumulators = e.integer("accumulators");
  if (r.window_open()) how.window = e.integer("unroll_window") != 0 ? r.window : 1;
  if (r.unroll_open()) how.unroll = e.integer("unroll");
  if (r.shared_out) how.pieces = e.integer("pieces");
  return rules::schedule_dag(dag, target, layouts, how);
}

Expected<schedule::Schedule> reductions_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  const Reductions r = *find_reductions(*dag, target);
  std::vector<schedule::LayoutStep> layouts;
  if (r.image) {
    const std::vector<int64_t>&data = dag->ops[static_cast<size_t>(r.data)].output->shape, &out = dag->ops[static_cast<size_t>(dag->outputs[0])].output->shape;
    const auto blocks = nchwc(channel_block(data[1], target), data.size() - 2);
    layouts.push_back({r.data, blocks});
    if (out.size() == data.size() && out[1] == data[1]) layouts.push_back({dag->outputs[0], blocks});
  }
  return reductions_in_layouts(dag, target, e, layouts);
}

}  // namespace tw::space::cpu
