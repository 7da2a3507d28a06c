// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

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
  bool shared_out = false;           ///< the number of parallel pieces is open: images, and columns of neighbouring results
  bool elementwise = false;          ///< some stage computes element by element
  int64_t window = 1;
  int data = -1;  ///< what an image's reduction reads, behind its padding
  bool window_open() const { return pool && window > 1 && window <= kLargestWindow; }
  bool unroll_open() const { return elementwise && !pool; }
};

bool is_reduced(const te::Op& op, const ir::Expr& index) {
  return std::any_of(op.reduce_axes.begin(), op.reduce_axes.end(), [&](const te::Axis& r) { return ir::uses_var(index, r.var.get()); });
}

/// The one array that a reduction reads along its reduction axes, which are indices of it by themselves unless it is a pool. Null for others, such as products.
const ir::LoadNode* reduced_read(const te::Op& op) {
  const ir::LoadNode* found = nullptr;
  bool one = true;
  ir::walk(*op.body, [&](const ir::Expr& e) {
    const auto* l = ir::as<ir::LoadNode>(e);
    if (!l || std::none_of(l->indices.begin(), l->indices.end(), [&](const ir::Expr& i) { return is_reduced(op, i); })) return;
    one = one && (!found || found->buffer.same_as(l->buffer));
    found = l;
  });
  if (!one || !found) return nullptr;
  for (const ir::Expr& i : found->indices)
    if (op.tag != "pool" && is_reduced(op, i) && !ir::as<ir::VarNode>(i)) return nullptr;
  return found;
}

/// Pools, and means over all but the first two dimensions.
bool is_image(const te::Op& op, const ir::LoadNode& read) {
  if (read.indices.size() < 3) return false;
  if (op.tag == "pool") return true;
  bool trailing = op.reduce_axes.size() == read.indices.size() - 2;
  for (size_t d = 0; d < read.indices.size(); ++d) trailing = trailing && is_reduced(op, read.indices[d]) == (d >= 2);
  return trailing;
}

std::optional<Reductions> find_reductions(const te::Dag& dag, const Target& target) {
  if (dag.outputs.size() != 1) return std::nullopt;
  Reductions r;
  int count = 0;
  bool columns = false;
  const te::Op* last = nullptr;
  const ir::LoadNode* last_read = nullptr;
  for (const te::Op& op : dag.ops) {
    if (op.is_placeholder()) continue;
    if (op.reducer == te::Reducer::none) {
      r.elementwise = true;
      continue;
    }
    const ir::LoadNode* read = reduced_read(op);
    if (!read) return std::nullopt;
    ++count;
    r.pool = r.pool || op.tag == "pool";
    columns = columns || !is_reduced(op, read->indices.back());
    last = &op;
    last_read = read;
  }
  if (count == 0 || (r.pool && (count > 1 || !is_image(*last, *last_read)))) return std::nullopt;
  const bool image = count == 1 && is_image(*last, *last_read);
  r.shared_out = target.cores > 1 && (image || columns);
  if (!image) return r;
  for (const te::Axis& a : last->reduce_axes) r.window *= a.extent;
  r.data = dag.op_of(last_read->buffer.get());
  if (const te::Op& source = dag.ops[static_cast<size_t>(r.data)]; source.tag == "pad")
    ir::walk(*source.body, [&](const ir::Expr& e) {
      if (const auto* l = ir::as<ir::LoadNode>(e)) r.data = dag.op_of(l->buffer.get());
    });
  const te::Op& data = dag.ops[static_cast<size_t>(r.data)];
  r.image = data.is_placeholder() && channel_block(data.output->shape[1], target) > 1;
  return r;
}

bool reductions_matches(const te::Dag& dag, const Target& target) { return find_reductions(dag, target).has_value(); }

ConfigSpace reductions_space(const te::Dag& dag, const Target& target) {
  const Reductions r = *find_reductions(dag, target);
  ConfigSpace space;
  space.define_knob("accumulators", {2, 3, 4, 6, 8}, "vectors that a reduction keeps in registers side by side");
  if (r.window_open()) space.define_knob("unroll_window", {0, 1}, "1: the window is written out, so that neighbours share loads");
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

}  // namespace

Template reductions() {
  return {"reductions.cpu",
          reductions_matches,
          reductions_space,
          reductions_apply,
          reductions_fallback,
          "Pools, softmax, norms and sums along any axes, scheduled by rule: how many vectors are summed up side by side, what is written out and how the work "
          "is shared out are open. Images are in blocks of channels, as convolutions leave them.",
          "Fog, Optimizing software in C++, Technical University of Denmark (several accumulators hide the latency of additions)",
          reductions_in_layouts};
}

}  // namespace tw::space::cpu
