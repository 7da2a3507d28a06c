// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// x of any float type and shape, a scale that broadcasts to the dimensions from `axis` on.
Types infer_rms_norm(const OpContext& c) {
  TW_CHECK(check_operands(c, 2, 2));
  TW_CHECK(check_float(c, 0));
  TW_CHECK(check_same_dtype(c, 0, 1));
  const TensorType& x = operand(c, 0);
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", -1), static_cast<int64_t>(x.shape.size())));
  TW_CHECK(check_broadcasts_to(c, 1, Dims(x.shape.begin() + axis, x.shape.end())));
  return result(c, x.dtype, x.shape);
}

Tensors rms_norm_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  TW_TRY(const int64_t axis, resolve_axis(c, c.node->attrs.integer("axis", -1), x.rank()));
  const Dims outer(x.shape().begin(), x.shape().begin() + axis), inner(x.shape().begin() + axis, x.shape().end());
  const Expr count = ir::constant(x.dtype(), static_cast<double>(product(inner)));
  const te::Tensor squares = b.reduce("squares", outer, inner, te::Reducer::sum, [&](const Indices& s, const Indices& r) {
    Indices at = s;
    at.insert(at.end(), r.begin(), r.end());
    const Expr v = x.at(std::move(at));
    return v * v;
  });
  const te::Tensor inverse = b.compute("inverse_root", outer, [&](const Indices& i) {
    return number(count, 1) / call(ir::Intrinsic::sqrt, squares.at(i) / count + number(count, c.node->attrs.real("epsilon", 1e-5)));
  });
  return std::vector{b.compute("rms_norm", x.shape(),
                               [&](const Indices& i) { return x.at(i) * inverse.at(Indices(i.begin(), i.begin() + axis)) * read_broadcast(*in[1], i); })};
}

}  // namespace

std::vector<OpDef> rms_norm() {
  return {{"rms_norm", FusionKind::opaque, infer_rms_norm, rms_norm_to_te, kTranscendental,
           "Divided by the root of the mean square over the dimensions from axis on, then scaled (Zhang and Sennrich, NeurIPS 2019)"}};
}

}  // namespace tw::graph::ops
