// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"
#include "engine/graph/ops/scatter.h"

namespace tw::graph::ops {

namespace {

/// Data of rank r; indices [..., q], q <= r; updates [..., data.shape[q:]].
Types infer_scatter_nd(const OpContext& c) {
  TW_CHECK(check_operands(c, 3, 3));
  TW_CHECK(check_same_dtype(c, 0, 2));
  TW_CHECK(check_reduction(c));
  const TensorType &x = operand(c, 0), &indices = operand(c, 1);
  if (!indices.dtype.is_int() || indices.shape.empty() || indices.shape.back() > static_cast<int64_t>(x.shape.size()))
    return bad(c, fmt::format("expected indices that address data {}, found {}", shape_text(x.shape), indices.text()));
  Dims expected(indices.shape.begin(), indices.shape.end() - 1);
  expected.insert(expected.end(), x.shape.begin() + indices.shape.back(), x.shape.end());
  if (operand(c, 2).shape != expected)
    return bad(c, fmt::format("expected updates of shape {}, found {}", shape_text(expected), shape_text(operand(c, 2).shape)));
  return result(c, x.dtype, x.shape);
}

Tensors scatter_nd_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor &x = *in[0], &indices = *in[1], &updates = *in[2];
  const int64_t depth = indices.shape().back();
  Scatter s{x, Dims(indices.shape().begin(), indices.shape().end() - 1), static_cast<size_t>(depth), {}, {}};
  if (s.candidates.empty()) s.candidates.push_back(1);
  const auto row = [&](const Indices& r) { return Indices(r.begin(), r.begin() + indices.rank() - 1); };
  s.hits = [&, row](const Indices& o, const Indices& r) {
    Expr hit = ir::bool_imm(true);
    for (int64_t q = 0; q < depth; ++q) {
      Indices at = row(r);
      at.push_back(ir::index(q));
      hit = hit && ir::equal(wrapped_index(indices.at(std::move(at)), x.shape()[static_cast<size_t>(q)]), o[static_cast<size_t>(q)]);
    }
    return hit;
  };
  s.update = [&, row](const Indices& o, const Indices& r) {
    Indices at = row(r);
    at.insert(at.end(), o.begin() + depth, o.end());
    return updates.at(std::move(at));
  };
  return scatter(b, c, s);
}

}  // namespace

std::vector<OpDef> scatter_nd() {
  return {{"scatter_nd", FusionKind::opaque, infer_scatter_nd, scatter_nd_to_te, kArithmetic,
           "The data with slices, each named by a row of indices, replaced by (or combined with) updates"}};
}

}  // namespace tw::graph::ops
