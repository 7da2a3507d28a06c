// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

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

/// Elements of which each adds up all before it in its block: a vector of the longest.
constexpr int64_t kRunningBlock = 16;

struct Running {
  te::DagBuilder& b;
  te::Reducer reducer;
  size_t axis;

  Expr nothing(const te::Tensor& x) const { return ir::constant(x.dtype(), reducer == te::Reducer::sum ? 0 : 1); }
  Expr both(const Expr& x, const Expr& y) const { return reducer == te::Reducer::sum ? x + y : x * y; }

  /// Along rows of neighbours: what runs up within each block is written as one chain, whose beginnings are shared where a block's rows are written out one
  /// after the other; a block's total is a reduction. `exclusive`: without the element itself.
  te::Tensor over_rows(const std::string& name, const te::Tensor& x, bool reverse, bool exclusive) const {
    const int64_t extent = x.shape()[axis], terms = std::min(kRunningBlock, extent);
    const auto place = [&](const Expr& at) { return reverse ? ir::index(extent - 1) - at : at; };
    // Adding it changes nothing, the sign of a zero included: the chain's end drops out where it is known.
    const Expr none = reducer == te::Reducer::sum && x.dtype().is_float() ? ir::constant(x.dtype(), -0.0) : nothing(x);
    std::optional<te::Tensor> before;
    if (extent > kRunningBlock) {
      Dims blocks = x.shape();
      blocks[axis] = (extent - 1) / kRunningBlock;  // the last one's is not asked for
      const te::Tensor totals = b.reduce("totals", blocks, {kRunningBlock}, reducer,
                                         [&](const Indices& s, const Indices& r) { return x.at(moved(s, axis, place(s[axis] * kRunningBlock + r[0]))); });
      before = over_rows("before", totals, false, false);
    }
    const auto body = [&](const Indices& s) {
      const Expr at = place(s[axis]), within = ir::floor_mod(at, ir::index(kRunningBlock));
      const auto term = [&](int64_t k) { return x.at(moved(s, axis, place(at - within + k))); };
      Expr sum = exclusive ? ir::select(ir::index(1) <= within, term(0), nothing(x)) : term(0);
      for (int64_t k = 1; k < terms; ++k) sum = both(sum, ir::select(ir::index(exclusive ? k + 1 : k) <= within, term(k), none));
      if (!before) return sum;
      const Expr own = ir::floor_div(at, ir::index(kRunningBlock));
      return both(sum, ir::select(ir::index(1) <= own, before->at(moved(s, axis, own - 1)), none));
    };
    const int64_t operations = before ? 2 : 1;  // of each element: one for its term, one for the blocks before it
    return b.compute(name, x.shape(), body, "running", {{"axis", {static_cast<int64_t>(axis)}}, {"block", {kRunningBlock}}, {"operations", {operations}}});
  }

  /// All up to each position, by sums of twice as many each time; `reverse`: from the end. Long ones in blocks: what runs up within each, and what all blocks
  /// before it have together, which runs up over the blocks' totals in the same way. Blocks are counted from the first element in either case, as vectors are.
  te::Tensor over(const std::string& name, const te::Tensor& x, bool reverse) const {
    const int64_t extent = x.shape()[axis], block = kRunningBlock;
    if (extent == 1) return b.compute(name, x.shape(), [&](const Indices& s) { return x.at(s); });
    te::Tensor within = x;
    for (int64_t apart = 1; apart < std::min(block, extent); apart *= 2) {
      const te::Tensor from = within;
      within = b.compute(2 * apart < extent || extent > block ? "within" : name, x.shape(), [&](const Indices& s) {
        const Expr &i = s[axis], place = ir::floor_mod(i, ir::index(block)), before = reverse ? i + apart : i - apart;
        const Expr inside = reverse ? before < ir::index(extent) && place < ir::index(block - apart) : ir::index(apart) <= place;
        return both(from.at(s), ir::select(inside, from.at(moved(s, axis, before)), nothing(x)));
      });
    }
    if (extent <= block) return within;
    // The total of the block that nothing comes behind is not asked for.
    const int64_t others = (extent - 1) / block;
    Dims blocks = x.shape();
    blocks[axis] = others;
    const te::Tensor totals = b.compute(
        "totals", blocks, [&](const Indices& s) { return within.at(moved(s, axis, reverse ? (s[axis] + 1) * block : s[axis] * block + (block - 1))); });
    const te::Tensor before = over("before", totals, reverse);
    return b.compute(name, x.shape(), [&](const Indices& s) {
      const Expr own = ir::floor_div(s[axis], ir::index(block)), some = reverse ? own < ir::index(others) : ir::index(1) <= own;
      return both(within.at(s), ir::select(some, before.at(moved(s, axis, reverse ? own : own - 1)), nothing(x)));
    });
  }

  /// Every element one place on, so that what runs up to each position leaves out the element itself.
  te::Tensor shifted(const te::Tensor& x, bool reverse) const {
    return b.compute("shifted", x.shape(), [&](const Indices& s) {
      const Expr& i = s[axis];
      const Expr some = reverse ? i < ir::index(x.shape()[axis] - 1) : ir::index(1) <= i;
      return ir::select(some, x.at(moved(s, axis, reverse ? i + int64_t{1} : i - int64_t{1})), nothing(x));
    });
  }
};

template <te::Reducer kReducer>
Tensors running_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", 0), x.rank()));
  const Running running{b, kReducer, static_cast<size_t>(axis)};
  const bool reverse = c.node->attrs.integer("reverse", 0) != 0, exclusive = c.node->attrs.integer("exclusive", 0) != 0;
  const bool rows = std::any_of(x.shape().begin() + axis + 1, x.shape().end(), [](int64_t extent) { return extent > 1; });
  if (rows) return std::vector{running.over_rows(c.node->op, x, reverse, exclusive)};
  return std::vector{running.over(c.node->op, exclusive ? running.shifted(x, reverse) : x, reverse)};
}

}  // namespace

std::vector<OpDef> cumsum() {
  return {{"cumsum", FusionKind::opaque, infer_cumsum, running_to_te<te::Reducer::sum>, kArithmetic,
           "Running sum along axis; exclusive leaves out the element itself, reverse runs from the end"},
          {"cumprod", FusionKind::opaque, infer_cumsum, running_to_te<te::Reducer::prod>, kArithmetic,
           "Running product along axis; exclusive leaves out the element itself, reverse runs from the end"}};
}

}  // namespace tw::graph::ops
