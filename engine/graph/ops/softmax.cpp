// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

Types infer_softmax(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  TW_CHECK(check_float(c, 0));
  const TensorType& x = operand(c, 0);
  TW_CHECK(resolve_axis(c, c.node->attrs.integer("axis", -1), static_cast<int64_t>(x.shape.size())));
  return result(c, x.dtype, x.shape);
}

/// The four stages both functions share: maximum, exponentials of the difference, their sum.
struct Stages {
  size_t axis;
  te::Tensor maximum, sum;
  Expr shifted(const te::Tensor& x, const Indices& i) const { return x.at(i) - maximum.at(without(i)); }
  Indices without(const Indices& i) const {
    Indices rest = i;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
    return rest;
  }
};

Indices with(const Indices& s, size_t axis, const Expr& r) {
  Indices full = s;
  full.insert(full.begin() + static_cast<std::ptrdiff_t>(axis), r);
  return full;
}

Expected<Stages> stages(te::DagBuilder& b, const OpContext& c, const te::Tensor& x, bool keep_exponentials, std::optional<te::Tensor>* exponentials) {
  TW_TRY(const int64_t resolved, resolve_axis(c, c.node->attrs.integer("axis", -1), x.rank()));
  const auto axis = static_cast<size_t>(resolved);
  Dims rest = x.shape();
  rest.erase(rest.begin() + resolved);
  const Dims extent{x.shape()[axis]};
  const te::Tensor maximum = b.reduce("maximum", rest, extent, te::Reducer::max, [&](const Indices& s, const Indices& r) { return x.at(with(s, axis, r[0])); });
  Stages out{axis, maximum, maximum};
  if (keep_exponentials)
    exponentials->emplace(b.compute("exponential", x.shape(), [&](const Indices& i) { return call(ir::Intrinsic::exp, out.shifted(x, i)); }));
  out.sum = b.reduce("sum", rest, extent, te::Reducer::sum, [&](const Indices& s, const Indices& r) {
    const Indices at = with(s, axis, r[0]);
    return keep_exponentials ? (*exponentials)->at(at) : call(ir::Intrinsic::exp, out.shifted(x, at));
  });
  return out;
}

Tensors softmax_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  std::optional<te::Tensor> e;
  TW_TRY(const Stages s, stages(b, c, *in[0], true, &e));
  const te::Tensor inverse = b.compute("inverse", s.sum.shape(), [&](const Indices& i) { return number(s.sum.at(i), 1) / s.sum.at(i); });
  return std::vector{b.compute(
      "softmax", in[0]->shape(), [&](const Indices& i) { return e->at(i) * inverse.at(s.without(i)); }, "softmax")};
}

Tensors log_softmax_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  TW_TRY(const Stages s, stages(b, c, *in[0], false, nullptr));
  const te::Tensor log_sum = b.compute("log_sum", s.sum.shape(), [&](const Indices& i) { return call(ir::Intrinsic::log, s.sum.at(i)); });
  return std::vector{b.compute(
      "log_softmax", in[0]->shape(), [&](const Indices& i) { return s.shifted(*in[0], i) - log_sum.at(s.without(i)); }, "softmax")};
}

}  // namespace

std::vector<OpDef> softmax() {
  return {
      {"softmax", FusionKind::opaque, infer_softmax, softmax_to_te, kTranscendental, "exp(x) over its sum along axis, shifted by the maximum"},
      {"log_softmax", FusionKind::opaque, infer_softmax, log_softmax_to_te, kTranscendental, "Logarithm of softmax along axis, without its overflow"},
  };
}

}  // namespace tw::graph::ops
