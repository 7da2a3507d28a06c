// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

using ir::Intrinsic;

/// Axes of the node: attribute `axes`, all when absent or empty.
Expected<Dims> axes_of(const OpContext& c, int64_t rank) {
  Dims axes = c.node->attrs.integers("axes", {});
  if (axes.empty())
    for (int64_t d = 0; d < rank; ++d) axes.push_back(d);
  return resolve_axes(c, axes, rank);
}

template <bool kFloatOnly>
Types infer_reduce(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  if (kFloatOnly) TW_CHECK(check_float(c, 0));
  const TensorType& x = operand(c, 0);
  if (x.dtype.is_bool()) return bad(c, "expected a numeric operand, found bool");
  TW_TRY(const Dims axes, axes_of(c, static_cast<int64_t>(x.shape.size())));
  const bool keep = c.node->attrs.integer("keepdims", 1) != 0;
  Dims shape;
  for (int64_t d = 0; d < static_cast<int64_t>(x.shape.size()); ++d) {
    const bool gone = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (!gone) shape.push_back(x.shape[static_cast<size_t>(d)]);
    if (gone && keep) shape.push_back(1);
  }
  return result(c, x.dtype, std::move(shape));
}

/// A reduction being written: which dimensions go and how results are indexed.
struct Reduction {
  te::DagBuilder& b;
  const OpContext& c;
  const te::Tensor& x;
  Dims axes, extents;
  bool keep;
  int64_t count() const { return product(extents); }

  /// Where position (s, r) lies in the operand.
  Indices source(const Indices& s, const Indices& r) const {
    Indices at;
    size_t next_s = 0, next_r = 0;
    for (int64_t d = 0; d < x.rank(); ++d) {
      if (next_r < axes.size() && axes[next_r] == d) {
        at.push_back(r[next_r++]);
        if (keep) ++next_s;
      } else {
        at.push_back(s[next_s++]);
      }
    }
    return at;
  }
  te::Tensor run(const std::string& name, te::Reducer reducer, const std::function<Expr(const Indices& s, Expr x)>& map) const {
    return b.reduce(name, c.outputs[0].shape, extents, reducer, [&](const Indices& s, const Indices& r) { return map(s, x.at(source(s, r))); });
  }
  std::vector<te::Tensor> then(const te::Tensor& t, const std::string& name, const std::function<Expr(const Indices& i, Expr x)>& map) const {
    return {b.compute(name, t.shape(), [&](const Indices& i) { return map(i, t.at(i)); })};
  }
};

using Reducing = std::vector<te::Tensor> (*)(const Reduction&);

template <Reducing kFormula>
Tensors reduce_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  TW_TRY(Dims axes, axes_of(c, x.rank()));
  Dims extents;
  for (const int64_t a : axes) extents.push_back(x.shape()[static_cast<size_t>(a)]);
  if (axes.empty()) {  // a scalar operand: one step over nothing
    const Reduction once{b, c, x, {}, {1}, false};
    return kFormula(once);
  }
  return kFormula(Reduction{b, c, x, std::move(axes), std::move(extents), c.node->attrs.integer("keepdims", 1) != 0});
}

Expr itself(const Indices&, Expr x) { return x; }
Expr squared(const Indices&, Expr x) { return x * x; }
Expr magnitude(const Indices&, Expr x) { return x->dtype.is_float() || x->dtype.is_signed() ? call(Intrinsic::fabs, x) : x; }
Expr logarithm(const Indices&, Expr x) { return call(Intrinsic::log, x); }

template <te::Reducer kReducer>
std::vector<te::Tensor> plain(const Reduction& r) {
  return {r.run(r.c.node->op, kReducer, itself)};
}
std::vector<te::Tensor> mean(const Reduction& r) {
  return r.then(r.run("sum", te::Reducer::sum, itself), "mean", [&](const Indices&, Expr x) {
    return x->dtype.is_float() ? x / number(x, static_cast<double>(r.count())) : safe_div(x, number(x, static_cast<double>(r.count())));
  });
}
std::vector<te::Tensor> sum_square(const Reduction& r) { return {r.run(r.c.node->op, te::Reducer::sum, squared)}; }
std::vector<te::Tensor> l1(const Reduction& r) { return {r.run(r.c.node->op, te::Reducer::sum, magnitude)}; }
std::vector<te::Tensor> l2(const Reduction& r) {
  return r.then(r.run("sum", te::Reducer::sum, squared), "l2", [](const Indices&, Expr x) { return call(Intrinsic::sqrt, x); });
}
std::vector<te::Tensor> log_sum(const Reduction& r) { return r.then(r.run("sum", te::Reducer::sum, itself), "log_sum", logarithm); }
std::vector<te::Tensor> log_sum_exp(const Reduction& r) {
  const te::Tensor top = r.run("maximum", te::Reducer::max, itself);
  // An infinite one is not taken away: rows of nothing but -inf, as masks make them, have -inf.
  const auto shift = [&](const Indices& i) {
    const Expr t = top.at(i);
    return select(call(Intrinsic::fabs, t) < number(t, std::numeric_limits<double>::infinity()), t, number(t, 0));
  };
  const te::Tensor sum = r.run("sum", te::Reducer::sum, [&](const Indices& s, Expr x) { return call(Intrinsic::exp, x - shift(s)); });
  return r.then(sum, "log_sum_exp", [&](const Indices& i, Expr x) { return shift(i) + call(Intrinsic::log, x); });
}

template <Reducing kFormula, bool kFloatOnly = false>
OpDef reduce_row(const char* name, double tolerance, const char* summary) {
  return {name, FusionKind::reduction, infer_reduce<kFloatOnly>, reduce_to_te<kFormula>, tolerance, summary};
}

}  // namespace

std::vector<OpDef> reduce() {
  return {
      reduce_row<plain<te::Reducer::sum>>("reduce_sum", kArithmetic, "Sum along axes"),
      reduce_row<plain<te::Reducer::prod>>("reduce_prod", kArithmetic, "Product along axes"),
      reduce_row<plain<te::Reducer::max>>("reduce_max", kExact, "Maximum along axes"),
      reduce_row<plain<te::Reducer::min>>("reduce_min", kExact, "Minimum along axes"),
      reduce_row<mean>("reduce_mean", kArithmetic, "Mean along axes"),
      reduce_row<sum_square>("reduce_sum_square", kArithmetic, "Sum of squares along axes"),
      reduce_row<l1>("reduce_l1", kArithmetic, "Sum of magnitudes along axes"),
      reduce_row<l2, true>("reduce_l2", kArithmetic, "Square root of the sum of squares along axes"),
      reduce_row<log_sum, true>("reduce_log_sum", kTranscendental, "Logarithm of the sum along axes"),
      reduce_row<log_sum_exp, true>("reduce_log_sum_exp", kTranscendental, "Logarithm of the sum of exponentials along axes, without overflow"),
  };
}

}  // namespace tw::graph::ops
