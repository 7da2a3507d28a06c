// SPDX-License-Identifier: Apache-2.0
#include "engine/lower/placement.h"

#include <fmt/format.h>

#include "engine/base/text.h"
#include "engine/lower/warp_tiles.h"
#include "engine/schedule/primitives/primitives.h"
#include "engine/target/gpu.h"

namespace tw::lower {

using ir::Buffer;
using ir::Expr;
using schedule::ComputeLocation;
using schedule::LayoutStep;
using schedule::Stage;

namespace {

std::vector<int64_t> physical_shape(const std::vector<int64_t>& shape, const std::vector<LayoutStep::Piece>& layout) {
  if (layout.empty()) return shape;
  const std::vector<int64_t> inner = schedule::block_lengths(layout, shape.size());
  std::vector<int64_t> out;
  for (const auto& p : layout) {
    const auto d = static_cast<size_t>(p.dim);
    out.push_back(p.factor ? p.factor : (shape[d] + inner[d] - 1) / inner[d]);
  }
  return out;
}

std::vector<Expr> physical_indices(const std::vector<Expr>& logical, const std::vector<LayoutStep::Piece>& layout) {
  if (layout.empty()) return logical;
  std::vector<int64_t> inner(logical.size(), 1);
  std::vector<Expr> out(layout.size(), ir::index(0));
  for (size_t k = layout.size(); k-- > 0;) {
    const auto d = static_cast<size_t>(layout[k].dim);
    const Expr rest = ir::floor_div(logical[d], ir::index(inner[d]));
    out[k] = layout[k].factor ? ir::floor_mod(rest, ir::index(layout[k].factor)) : rest;
    inner[d] *= layout[k].factor ? layout[k].factor : 1;
  }
  return out;
}

/// More elements than any array of ours has; products below it cannot overflow.
constexpr int64_t kMaxElements = int64_t{1} << 48;

/// Strides of the physical dimensions, outermost first, each enlarged until its alignment holds; the last number is that of all elements.
/// Nothing if there are more than kMaxElements.
std::optional<std::vector<int64_t>> aligned_strides(const std::vector<int64_t>& shape, const std::vector<LayoutStep::Piece>& layout,
                                                    const std::vector<schedule::Alignment>& alignments) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t k = shape.size(); k-- > 0;) {
    for (const schedule::Alignment& a : alignments) {
      const bool here = layout.empty() ? static_cast<size_t>(a.dim) == k : layout[k].dim == a.dim && layout[k].factor == 0;
      if (here) stride += floor_mod_int(a.offset - stride, a.factor);
    }
    strides[k] = stride;
    if (shape[k] > kMaxElements / stride) return std::nullopt;
    stride *= shape[k];
  }
  strides.push_back(stride);
  return strides;
}

/// Tiles up to this size live on the stack, where those with constant indices become registers; larger ones come from the workspace.
constexpr int64_t kLocalBytes = 32 * 1024;

int64_t tile_bytes(const std::vector<int64_t>& shape, DType t) {
  int64_t n = t.bytes();
  for (const int64_t d : shape) n *= d;
  return n;
}

/// Dimensions of a tile in the order of its stage's loops, so that the innermost loop walks neighbouring elements.
std::vector<LayoutStep::Piece> loop_order_layout(const Plan& plan, int i) {
  const Stage& st = plan.stage(i);
  std::vector<std::pair<int, int>> position;  // innermost loop that moves the dimension, dimension
  for (size_t d = 0; d < st.op.axes.size(); ++d) {
    int innermost = -1;
    for (size_t k = 0; k < st.iters.size(); ++k)
      if (ir::uses_var(plan.domains.of(i).axis_value.at(st.op.axes[d].var.get()), st.iters[k].var.get())) innermost = static_cast<int>(k);
    position.emplace_back(innermost, static_cast<int>(d));
  }
  std::sort(position.begin(), position.end());
  std::vector<LayoutStep::Piece> out;
  for (const auto& [loop, d] : position) out.push_back({d, 0});
  return out;
}

}  // namespace

std::optional<int64_t> array_elements(const Stage& st, const std::vector<int64_t>& region) {
  const auto strides = aligned_strides(physical_shape(region, st.layout), st.layout, st.alignments);
  return strides ? std::optional(strides->back()) : std::nullopt;
}

std::vector<Expr> Placement::indices(const std::vector<Expr>& logical) const {
  if (warp_tile) {
    const Expr &row = logical[warp_tile->first], &column = logical[warp_tile->second];
    return {ir::floor_div(row, ir::index(8)), ir::floor_div(column, ir::index(8)), ir::floor_mod(column, ir::index(2))};
  }
  std::vector<Expr> out = physical_indices(logical, layout);
  if (!strides.empty()) {
    Expr at = ir::index(0);
    for (size_t k = 0; k < out.size(); ++k) at = at + out[k] * strides[k];
    out = {at};
  }
  if (slot) out.insert(out.begin(), *slot);
  return out;
}

DType sum_type(const Stage& st) {
  const DType t = st.op.output->dtype;
  return st.op.reducer == te::Reducer::sum && is_16_bit_float(t) ? kFloat32 : t;
}

Expected<Arrays> Arrays::place(const Plan& plan) {
  Arrays out(plan);
  for (size_t i = 0; i < plan.stages.size(); ++i) {
    const Stage& st = plan.stages[i];
    const Buffer& logical = st.op.output;
    if (st.location == ComputeLocation::inlined) {
      out.placements_.emplace_back();
      continue;
    }
    const bool at = st.location == ComputeLocation::at;
    const bool param = st.op.is_placeholder() || plan.is_output(static_cast<int>(i));
    out.placements_.push_back({at && st.layout.empty() ? loop_order_layout(plan, static_cast<int>(i)) : st.layout, {}});
    Placement& place = out.placements_.back();
    place.shape = physical_shape(at ? plan.domains.of(static_cast<int>(i)).extent : logical->shape, place.layout);
    auto strides = aligned_strides(place.shape, place.layout, st.alignments);
    if (!strides)
      return Error(ErrorCode::resource_limit,
                   fmt::format("Expected an array of at most 2^48 elements for '{}', found {}", st.op.name, shape_text(place.shape)));
    if (!st.alignments.empty()) {
      place.shape = {strides->back()};
      strides->pop_back();
      place.strides = std::move(*strides);
    }
    place.slot = out.slot_of(static_cast<int>(i));
    if (place.slot) place.shape.insert(place.shape.begin(), out.slots(static_cast<int>(i)));
    DType type = logical->dtype;
    if (st.warp_product) {
      TW_CHECK(place_warp_tile(plan, static_cast<int>(i), place));
      type = target::mma_sum(schedule::product_of_loads(*st.op.body).first->dtype);
    }
    if (st.pipeline > 0 && (st.scope != ir::Scope::shared || !plan.launches.has(static_cast<int>(i))))
      return Error(ErrorCode::illegal_schedule, fmt::format("Expected a stage that a block of threads shares for 'pipeline', found '{}'", st.op.name));
    ir::Scope scope = param ? ir::Scope::param : st.scope;
    if (scope != ir::Scope::param && !at && plan.launches.any()) scope = ir::Scope::global;  // crosses launches
    if (at && !plan.launches.has(static_cast<int>(i)))  // where there are no threads, nothing is shared
      scope = tile_bytes(place.shape, logical->dtype) <= kLocalBytes ? ir::Scope::local : ir::Scope::global;
    if (scope == ir::Scope::local && plan.launches.has(static_cast<int>(i))) type = sum_type(st);
    if (scope == ir::Scope::global && !at && plan.launches.any() && is_16_bit_float(type)) type = kFloat32;  // parts of sums that the next launch adds up
    out.widened_ = out.widened_ || (type != logical->dtype && is_16_bit_float(logical->dtype));
    out.buffers_.emplace(logical.get(), ir::make_buffer(logical->name, type, place.shape, scope));
    out.stage_of_.emplace(logical.get(), static_cast<int>(i));
  }
  return out;
}

int64_t Arrays::slots(int i) const {
  const Stage& st = plan_->stage(i);
  if (!st.double_buffer && st.pipeline == 0) return 1;
  return std::min<int64_t>(st.double_buffer ? 2 : st.pipeline, plan_->domains.of(st.at_stage).loop_extent.at(st.at_iter->get()));
}

std::optional<Expr> Arrays::slot_of(int i) const {
  if (slots(i) == 1) return std::nullopt;
  return ir::floor_mod(ir::to_expr(*plan_->stage(i).at_iter), ir::index(slots(i)));
}

std::pair<Buffer, std::vector<Expr>> Arrays::access(const ir::BufferNode* logical, std::vector<Expr> indices) const {
  const int i = stage_of_.at(logical);
  const Stage& st = plan_->stage(i);
  if (st.location == ComputeLocation::at)
    for (size_t k = 0; k < indices.size(); ++k) indices[k] = indices[k] - plan_->domains.of(i).min[k];
  return {buffers_.at(logical), placement(i).indices(indices)};
}

}  // namespace tw::lower
