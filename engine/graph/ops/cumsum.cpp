// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// Attributes axis, exclusive, reverse.
Types infer_cumsum(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  const TensorType& x = operand(c, 0);
  if (x.dtype.is_bool()) return bad(c, "expected a numeric operand, found bool");
  TW_CHECK(resolve_axis(c, c.node->attrs.integer("axis", 0), static_cast<int64_t>(x.shape.size())));
  return result(c, x.dtype, x.shape);
}

/// Elements of which each adds up all before it in its block: one vector of the longest.
constexpr int64_t kRunningBlock = 16;

struct Running {
  te::DagBuilder& b;
  te::Reducer reducer;
  size_t axis;
  bool reverse;

  /// Each position's sum over the `taps` elements from first(position) on that are not behind it: quadratic, but free of order between elements.
  te::Tensor masked(const std::string& name, const te::Tensor& x, int64_t taps, bool exclusive, const std::function<Expr(const Expr&)>& first) const {
    const int64_t extent = x.shape()[axis];
    return b.reduce(name, x.shape(), {taps}, reducer, [&](const Indices& s, const Indices& r) {
      Indices at = s;
      at[axis] = first(s[axis]) + r[0];
      const Expr &low = reverse ? s[axis] : at[axis], &high = reverse ? at[axis] : s[axis];
      const Expr taken = exclusive ? low < high : low <= high;
      return ir::select(reverse && extent % taps != 0 ? at[axis] < ir::index(extent) && taken : taken, x.at(at), nothing(x));
    });
  }
  Expr nothing(const te::Tensor& x) const { return ir::constant(x.dtype(), reducer == te::Reducer::sum ? 0 : 1); }

  /// Long ones in blocks: what runs up within each, and what all blocks before it have together, which runs up over the blocks' totals in the same way.
  te::Tensor over(const std::string& name, const te::Tensor& x, bool exclusive) const {
    const int64_t extent = x.shape()[axis];
    if (extent <= 2 * kRunningBlock) return masked(name, x, extent, exclusive, [](const Expr&) { return ir::index(0); });
    Dims blocks = x.shape();
    blocks[axis] = (extent + kRunningBlock - 1) / kRunningBlock;
    const te::Tensor totals = b.reduce("totals", blocks, {kRunningBlock}, reducer, [&](const Indices& s, const Indices& r) {
      Indices at = s;
      at[axis] = s[axis] * kRunningBlock + r[0];
      const Expr value = x.at(at);
      return extent % kRunningBlock == 0 ? value : ir::select(at[axis] < ir::index(extent), value, nothing(x));
    });
    const te::Tensor before = over("before", totals, true);
    const auto block_of = [](const Expr& at) { return ir::floor_div(at, ir::index(kRunningBlock)); };
    const te::Tensor within = masked("within", x, kRunningBlock, exclusive, [&](const Expr& at) { return block_of(at) * kRunningBlock; });
    return b.compute(name, x.shape(), [&](const Indices& s) {
      Indices block = s;
      block[axis] = block_of(s[axis]);
      return reducer == te::Reducer::sum ? within.at(s) + before.at(block) : within.at(s) * before.at(block);
    });
  }
};

template <te::Reducer kReducer>
Tensors running_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", 0), x.rank()));
  const Running running{b, kReducer, static_cast<size_t>(axis), c.node->attrs.integer("reverse", 0) != 0};
  return std::vector{running.over(c.node->op, x, c.node->attrs.integer("exclusive", 0) != 0)};
}

}  // namespace

std::vector<OpDef> cumsum() {
  return {{"cumsum", FusionKind::opaque, infer_cumsum, running_to_te<te::Reducer::sum>, kArithmetic,
           "Running sum along axis; exclusive leaves out the element itself, reverse runs from the end"},
          {"cumprod", FusionKind::opaque, infer_cumsum, running_to_te<te::Reducer::prod>, kArithmetic,
           "Running product along axis; exclusive leaves out the element itself, reverse runs from the end"}};
}

}  // namespace tw::graph::ops
