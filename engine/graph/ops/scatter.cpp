// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/scatter.h"

namespace tw::graph::ops {

namespace {

struct Combination {
  const char* name;
  te::Reducer reducer;
};
constexpr Combination kCombinations[] = {{"add", te::Reducer::sum}, {"mul", te::Reducer::prod}, {"max", te::Reducer::max}, {"min", te::Reducer::min}};

/// For numbers below `count` and a negative one: there is one for each position, and few updates mostly, as of the last tokens in a cache.
DType smallest_numbers(int64_t count) {
  for (const DType t : {kInt8, kInt16, kInt32})
    if (count <= int64_t{1} << (8 * t.bytes() - 1)) return t;
  return ir::kIndex;
}

}  // namespace

Expected<void> check_reduction(const OpContext& c) {
  const std::string r = c.node->attrs.text("reduction", "none");
  for (const Combination& k : kCombinations)
    if (r == k.name) return c.inputs[0] && c.inputs[0]->dtype.is_bool() ? Expected<void>(bad(c, "boolean data are not combined")) : Expected<void>();
  if (r == "none") return {};
  return bad(c, fmt::format("expected reduction 'none', 'add', 'mul', 'max' or 'min', found '{}'", printable(r.substr(0, 64))));
}

Tensors scatter(te::DagBuilder& b, const OpContext& c, const Scatter& s) {
  const std::string reduction = c.node->attrs.text("reduction", "none");
  for (const Combination& k : kCombinations) {
    if (reduction != k.name) continue;
    const Expr identity = te::reducer_identity(k.reducer, s.data.dtype());
    const te::Tensor combined = b.reduce("combined", s.data.shape(), s.candidates, k.reducer,
                                         [&](const Indices& o, const Indices& r) { return ir::select(s.hits(o, r), s.update(o, r), identity); });
    return std::vector{b.compute(c.node->op, s.data.shape(), [&](const Indices& i) { return te::reducer_combine(k.reducer, s.data.at(i), combined.at(i)); })};
  }
  // The last update that lands on a position wins: find it, then read it. Where none does the number is negative.
  const DType numbers = smallest_numbers(product(s.candidates));
  const auto rank = static_cast<std::ptrdiff_t>(s.rank);
  const te::Tensor winner =
      b.reduce("winner", Dims(s.data.shape().begin(), s.data.shape().begin() + rank), s.candidates, te::Reducer::max, [&](const Indices& o, const Indices& r) {
        Expr position = ir::index(0);
        for (size_t d = 0; d < r.size(); ++d) position = position * s.candidates[d] + r[d];
        return ir::select(s.hits(o, r), ir::cast(numbers, position), te::reducer_identity(te::Reducer::max, numbers));
      });
  return std::vector{b.compute(c.node->op, s.data.shape(), [&](const Indices& o) {
    const Expr hit = ir::cast(ir::kIndex, winner.at(Indices(o.begin(), o.begin() + rank)));
    Indices r(s.candidates.size(), ir::index(0));
    int64_t stride = 1;
    for (size_t d = s.candidates.size(); d-- > 0;) {
      const Expr rest = ir::floor_div(hit, ir::index(stride));
      r[d] = d > 0 ? ir::floor_mod(rest, ir::index(s.candidates[d])) : ir::min(ir::max(rest, ir::index(0)), ir::index(s.candidates[d] - 1));
      stride *= s.candidates[d];
    }
    return ir::select(ir::index(0) <= hit, s.update(o, r), s.data.at(o));
  })};
}

}  // namespace tw::graph::ops
