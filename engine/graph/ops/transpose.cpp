// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// Attribute `perm`; reversed dimensions when absent.
Expected<Dims> permutation(const OpContext& c, size_t rank) {
  Dims reversed;
  for (size_t d = rank; d-- > 0;) reversed.push_back(static_cast<int64_t>(d));
  const Dims perm = c.node->attrs.integers("perm", reversed);
  if (perm.size() != rank) return bad(c, fmt::format("expected {} axes in 'perm', found {}", rank, perm.size()));
  TW_CHECK(resolve_axes(c, perm, static_cast<int64_t>(rank)));
  Dims out;
  for (const int64_t p : perm) out.push_back(p < 0 ? p + static_cast<int64_t>(rank) : p);
  return out;
}

Types infer_transpose(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  const TensorType& x = operand(c, 0);
  TW_TRY(const Dims perm, permutation(c, x.shape.size()));
  Dims shape;
  for (const int64_t p : perm) shape.push_back(x.shape[static_cast<size_t>(p)]);
  return result(c, x.dtype, std::move(shape));
}

Tensors transpose_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  TW_TRY(const Dims perm, permutation(c, x.shape().size()));
  return std::vector{b.compute(
      "transpose", c.outputs[0].shape,
      [&](const Indices& i) {
        Indices at(i.size(), ir::index(0));
        for (size_t d = 0; d < i.size(); ++d) at[static_cast<size_t>(perm[d])] = i[d];
        return x.at(at);
      },
      "injective")};
}

}  // namespace

std::vector<OpDef> transpose() { return {{"transpose", FusionKind::injective, infer_transpose, transpose_to_te, kExact, "Dimensions in the order of perm"}}; }

}  // namespace tw::graph::ops
