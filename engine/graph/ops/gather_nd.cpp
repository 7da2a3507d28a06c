// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// Data of rank r; indices [..., q] with q <= r - batch_dims: every row names a slice of the data's last dimensions.
Types infer_gather_nd(const OpContext& c) {
  TW_CHECK(check_operands(c, 2, 2));
  const TensorType &x = operand(c, 0), &indices = operand(c, 1);
  const int64_t batch = c.node->attrs.integer("batch_dims", 0);
  if (!indices.dtype.is_int()) return bad(c, fmt::format("expected integer indices, found {}", indices.dtype.name()));
  const auto rank = static_cast<int64_t>(x.shape.size()), index_rank = static_cast<int64_t>(indices.shape.size());
  if (batch < 0 || index_rank < 1 || batch >= std::min(rank, index_rank) || batch + indices.shape.back() > rank)
    return bad(c, fmt::format("expected indices that address the data with {} batch dimensions, found {} and {}", batch, shape_text(indices.shape),
                              shape_text(x.shape)));
  for (int64_t d = 0; d < batch; ++d)
    if (x.shape[static_cast<size_t>(d)] != indices.shape[static_cast<size_t>(d)])
      return bad(c, fmt::format("expected equal batch dimensions of data and indices, found another extent in dimension {}", d));
  Dims shape(indices.shape.begin(), indices.shape.end() - 1);
  shape.insert(shape.end(), x.shape.begin() + batch + indices.shape.back(), x.shape.end());
  return result(c, x.dtype, std::move(shape));
}

Tensors gather_nd_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor &x = *in[0], &indices = *in[1];
  const int64_t batch = c.node->attrs.integer("batch_dims", 0), depth = indices.shape().back();
  const auto body = [&](const Indices& i) {
    const Indices row(i.begin(), i.begin() + indices.rank() - 1);
    Indices at(i.begin(), i.begin() + batch);
    for (int64_t q = 0; q < depth; ++q) {
      Indices cell = row;
      cell.push_back(ir::index(q));
      at.push_back(wrapped_index(indices.at(std::move(cell)), x.shape()[static_cast<size_t>(batch + q)]));
    }
    at.insert(at.end(), i.begin() + indices.rank() - 1, i.end());
    return x.at(std::move(at));
  };
  return std::vector{b.compute("gather_nd", c.outputs[0].shape, body, "gather")};
}

}  // namespace

std::vector<OpDef> gather_nd() {
  return {{"gather_nd", FusionKind::injective, infer_gather_nd, gather_nd_to_te, kExact, "Slices of the data, each named by a row of indices"}};
}

}  // namespace tw::graph::ops
