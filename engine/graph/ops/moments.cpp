// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/moments.h"

namespace tw::graph::ops {

Moments moments(te::DagBuilder& b, const OpContext& c, const te::Tensor& x, const Dims& outer, const Dims& inner,
                const std::function<Indices(const Indices& s, const Indices& r)>& element) {
  const Expr count = ir::constant(x.dtype(), static_cast<double>(product(inner)));
  const te::Tensor sum = b.reduce("sum", outer, inner, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return x.at(element(s, r)); });
  const te::Tensor mean = b.compute("mean", outer, [&](const Indices& i) { return sum.at(i) / count; });
  const te::Tensor squares = b.reduce("squares", outer, inner, te::Reducer::sum, [&](const Indices& s, const Indices& r) {
    const Expr d = x.at(element(s, r)) - mean.at(s);
    return d * d;
  });
  const te::Tensor scale = b.compute("inverse_deviation", outer, [&](const Indices& i) {
    return number(count, 1) / call(ir::Intrinsic::sqrt, squares.at(i) / count + number(count, c.node->attrs.real("epsilon", 1e-5)));
  });
  return {mean, scale};
}

}  // namespace tw::graph::ops
