// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/moments.h"

namespace tw::graph::ops {

namespace {

using Element = std::function<Indices(const Indices& s, const Indices& r)>;

/// Sums that several positions share, and where each position finds its own.
struct Shared {
  std::function<te::Tensor(const te::Tensor&)> join;
  std::function<Indices(const Indices&)> of;
};

Moments moments_by(te::DagBuilder& b, const OpContext& c, const te::Tensor& x, const Dims& outer, const Dims& inner, const Element& element, double elements,
                   const Shared& shared) {
  const Expr count = ir::constant(x.dtype(), elements);
  const te::Tensor sum = shared.join(b.reduce("sum", outer, inner, te::Reducer::sum, [&](const Indices& s, const Indices& r) { return x.at(element(s, r)); }));
  const te::Tensor mean = b.compute("mean", outer, [&](const Indices& i) { return sum.at(shared.of(i)) / count; });
  const te::Tensor squares = shared.join(b.reduce("squares", outer, inner, te::Reducer::sum, [&](const Indices& s, const Indices& r) {
    const Expr d = x.at(element(s, r)) - mean.at(s);
    return d * d;
  }));
  const te::Tensor scale = b.compute("inverse_deviation", outer, [&](const Indices& i) {
    return number(count, 1) / call(ir::Intrinsic::sqrt, squares.at(shared.of(i)) / count + number(count, c.node->attrs.real("epsilon", 1e-5)));
  });
  return {mean, scale};
}

}  // namespace

Moments moments(te::DagBuilder& b, const OpContext& c, const te::Tensor& x, const Dims& outer, const Dims& inner, const Element& element) {
  return moments_by(b, c, x, outer, inner, element, static_cast<double>(product(inner)),
                    {[](const te::Tensor& t) { return t; }, [](const Indices& s) { return s; }});
}

Moments moments_of_groups(te::DagBuilder& b, const OpContext& c, const te::Tensor& x, int64_t per_group) {
  const Dims outer{x.shape()[0], x.shape()[1]}, inner(x.shape().begin() + 2, x.shape().end());
  const auto element = [](const Indices& s, const Indices& r) {
    Indices at = s;
    at.insert(at.end(), r.begin(), r.end());
    return at;
  };
  const auto join = [&](const te::Tensor& t) {
    return b.reduce("of_group", {outer[0], outer[1] / per_group}, {per_group}, te::Reducer::sum,
                    [&](const Indices& s, const Indices& r) { return t(s[0], s[1] * per_group + r[0]); });
  };
  return moments_by(b, c, x, outer, inner, element, static_cast<double>(product(inner) * per_group),
                    {join, [&](const Indices& s) { return Indices{s[0], ir::floor_div(s[1], ir::index(per_group))}; }});
}

}  // namespace tw::graph::ops
