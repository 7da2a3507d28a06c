// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

Types infer_tile(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  const TensorType& x = operand(c, 0);
  TW_TRY(const Dims repeats, integers_attr(c, "repeats", x.shape.size(), 1, 1));
  Dims shape = x.shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > (int64_t{1} << 40) / repeats[d])
      return bad(c, fmt::format("expected at most 2^40 elements in dimension {}, found {} repeated {} times", d, shape_text(x.shape), repeats[d]));
    shape[d] *= repeats[d];
  }
  return result(c, x.dtype, std::move(shape));
}

Tensors tile_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  return std::vector{b.compute(
      "tile", c.outputs[0].shape,
      [&](const Indices& i) {
        Indices at;
        for (size_t d = 0; d < i.size(); ++d) at.push_back(c.outputs[0].shape[d] == x.shape()[d] ? i[d] : ir::floor_mod(i[d], ir::index(x.shape()[d])));
        return x.at(std::move(at));
      },
      "injective")};
}

}  // namespace

std::vector<OpDef> tile() { return {{"tile", FusionKind::injective, infer_tile, tile_to_te, kExact, "The operand repeated along every dimension"}}; }

}  // namespace tw::graph::ops
