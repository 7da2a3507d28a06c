// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// x of any shape, integer indices [out, taps] and weights [out, taps]; attribute axis.
Types infer_resample(const OpContext& c) {
  TW_CHECK(check_operands(c, 3, 3));
  TW_CHECK(check_float(c, 0));
  TW_CHECK(check_same_dtype(c, 0, 2));
  TW_CHECK(check_rank(c, 1, 2));
  const TensorType &x = operand(c, 0), &indices = operand(c, 1);
  if (!indices.dtype.is_int() || operand(c, 2).shape != indices.shape)
    return bad(c, fmt::format("expected integer indices of the weights' shape {}, found {}", shape_text(operand(c, 2).shape), indices.text()));
  if (indices.shape[1] > 64) return bad(c, fmt::format("expected at most 64 taps, found {}", indices.shape[1]));
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", 0), static_cast<int64_t>(x.shape.size())));
  Dims shape = x.shape;
  shape[static_cast<size_t>(axis)] = indices.shape[0];
  return result(c, x.dtype, std::move(shape));
}

Tensors resample_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor &x = *in[0], &indices = *in[1], &weights = *in[2];
  TW_TRY(const int64_t resolved, resolve_axis(c, c.node->attrs.integer("axis", 0), x.rank()));
  const auto axis = static_cast<size_t>(resolved);
  return std::vector{b.compute(
      "resample", c.outputs[0].shape,
      [&](const Indices& i) {
        std::optional<Expr> sum;
        for (int64_t t = 0; t < indices.shape()[1]; ++t) {
          Indices at = i;
          at[axis] = wrapped_index(indices(i[axis], t), x.shape()[axis]);
          const Expr term = x.at(std::move(at)) * weights(i[axis], t);
          sum = sum ? *sum + term : term;
        }
        return *sum;
      },
      "gather")};
}

}  // namespace

std::vector<OpDef> resample() {
  return {{"resample", FusionKind::injective, infer_resample, resample_to_te, kArithmetic,
           "Weighted sums of a few elements along axis, the positions and weights given by tables: resizing by interpolation"}};
}

}  // namespace tw::graph::ops
