// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

struct TwoAxes {
  size_t batch, time;
};
Expected<TwoAxes> two_axes_of(const OpContext& c, int64_t rank) {
  TW_TRY(const int64_t batch, resolve_axis(c, c.node->attrs.integer("batch_axis", 1), rank));
  TW_TRY(const int64_t time, resolve_axis(c, c.node->attrs.integer("time_axis", 0), rank));
  if (batch == time) return bad(c, fmt::format("expected different batch and time axes, found {} for both", batch));
  return TwoAxes{static_cast<size_t>(batch), static_cast<size_t>(time)};
}

/// Data of rank 2 or more and one integer length a batch entry.
Types infer_reverse_sequence(const OpContext& c) {
  TW_CHECK(check_operands(c, 2, 2));
  const TensorType &x = operand(c, 0), &lengths = operand(c, 1);
  TW_TRY(const TwoAxes axes, two_axes_of(c, static_cast<int64_t>(x.shape.size())));
  if (!lengths.dtype.is_int() || lengths.shape != Dims{x.shape[axes.batch]})
    return bad(c, fmt::format("expected {} integer lengths, found {}", x.shape[axes.batch], lengths.text()));
  return result(c, x.dtype, x.shape);
}

Tensors reverse_sequence_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor &x = *in[0], &lengths = *in[1];
  TW_TRY(const TwoAxes axes, two_axes_of(c, x.rank()));
  const int64_t extent = x.shape()[axes.time];
  return std::vector{b.compute(
      "reverse_sequence", x.shape(),
      [&](const Indices& i) {
        const Expr length = ir::min(ir::cast(ir::kIndex, lengths(i[axes.batch])), ir::index(extent));
        const Expr& t = i[axes.time];
        Indices at = i;
        at[axes.time] = ir::select(t < length, length - t - 1, t);
        return x.at(std::move(at));
      },
      "gather")};
}

}  // namespace

std::vector<OpDef> reverse_sequence() {
  return {{"reverse_sequence", FusionKind::injective, infer_reverse_sequence, reverse_sequence_to_te, kExact,
           "The first `length` steps of each batch entry in reverse order"}};
}

}  // namespace tw::graph::ops
