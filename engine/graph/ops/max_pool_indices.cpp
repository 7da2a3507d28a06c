// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"
#include "engine/graph/ops/window.h"

namespace tw::graph::ops {

namespace {

/// As max_pool; the result holds each maximum's position in the flattened data (column_major: the last two dimensions swapped in that count).
template <int kSpatial>
Types infer_max_pool_indices(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  TW_CHECK(check_rank(c, 0, kSpatial + 2));
  const TensorType& x = operand(c, 0);
  TW_TRY(Dims kernel, integers_attr(c, "kernel", kSpatial, 1, 1));
  TW_TRY(const Window w, window_of(c, std::move(kernel)));
  TW_TRY(const Dims spatial, window_result(c, w, x.shape, c.node->attrs.integer("ceil_mode", 0) != 0));
  Dims shape{x.shape[0], x.shape[1]};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  return result(c, kInt64, std::move(shape));
}

/// The element that position `s` and tap `r` meet, and whether it lies inside the data.
struct Tap {
  Indices at;
  Expr inside;
};
Tap tap(const Window& w, const te::Tensor& x, const Indices& s, const Indices& r) {
  Tap t{window_index(w, s[0], s[1], std::span(s).subspan(2), r), ir::bool_imm(true)};
  for (size_t d = 0; d < w.kernel.size(); ++d) {
    t.at[d + 2] = t.at[d + 2] - w.pad_before[d];
    t.inside = t.inside && ir::index(0) <= t.at[d + 2] && t.at[d + 2] < ir::index(x.shape()[d + 2]);
  }
  return t;
}

Expr flat_position(const te::Tensor& x, const Indices& at, bool column_major) {
  Expr flat = ir::index(0);
  const size_t n = at.size();
  for (size_t k = 0; k < n; ++k) {
    const size_t d = column_major ? (k < 2 ? k : n + 1 - k) : k;
    flat = flat * x.shape()[d] + at[d];
  }
  return flat;
}

template <int kSpatial>
Tensors max_pool_indices_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  TW_TRY(Dims kernel, integers_attr(c, "kernel", kSpatial, 1, 1));
  TW_TRY(const Window w, window_of(c, std::move(kernel)));
  const bool column_major = c.node->attrs.integer("column_major", 0) != 0;
  const te::Tensor best = b.reduce("best", c.outputs[0].shape, w.kernel, te::Reducer::max, [&](const Indices& s, const Indices& r) {
    const Tap t = tap(w, x, s, r);
    return ir::select(t.inside, x.at(t.at), ir::lowest(x.dtype()));
  });
  const Expr none = ir::highest(kInt64);
  const te::Tensor first = b.reduce("first", c.outputs[0].shape, w.kernel, te::Reducer::min, [&](const Indices& s, const Indices& r) {
    const Tap t = tap(w, x, s, r);
    return ir::select(t.inside, ir::select(ir::equal(x.at(t.at), best.at(s)), flat_position(x, t.at, false), none), none);
  });
  if (!column_major) return std::vector{first};
  return std::vector{b.compute("column_major", c.outputs[0].shape, [&](const Indices& i) {
    Indices at(x.shape().size(), ir::index(0));
    int64_t stride = 1;
    for (size_t d = at.size(); d-- > 0;) {
      at[d] = ir::floor_mod(ir::floor_div(first.at(i), ir::index(stride)), ir::index(x.shape()[d]));
      stride *= x.shape()[d];
    }
    return flat_position(x, at, true);
  })};
}

constexpr const char* kIndicesSummary = "Position of the maximum of each sliding window in the flattened data";

}  // namespace

std::vector<OpDef> max_pool_indices() {
  return {
      {"max_pool1d_indices", FusionKind::opaque, infer_max_pool_indices<1>, max_pool_indices_to_te<1>, kExact, kIndicesSummary},
      {"max_pool2d_indices", FusionKind::opaque, infer_max_pool_indices<2>, max_pool_indices_to_te<2>, kExact, kIndicesSummary},
      {"max_pool3d_indices", FusionKind::opaque, infer_max_pool_indices<3>, max_pool_indices_to_te<3>, kExact, kIndicesSummary},
  };
}

}  // namespace tw::graph::ops
