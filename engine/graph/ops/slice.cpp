// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

struct SliceRange {
  Dims starts, steps, sizes;
};

/// Attributes starts, steps and sizes: one integer a dimension each; steps may be negative.
Expected<SliceRange> slice_range(const OpContext& c, const Dims& x) {
  constexpr int64_t kAny = -(int64_t{1} << 31);
  SliceRange r;
  TW_TRY(r.starts, integers_attr(c, "starts", x.size(), 0, 0));
  TW_TRY(r.steps, integers_attr(c, "steps", x.size(), 1, kAny));
  TW_TRY(r.sizes, integers_attr(c, "sizes", x.size(), 0, 1));
  for (size_t d = 0; d < x.size(); ++d) {
    const int64_t last = r.starts[d] + (r.sizes[d] - 1) * r.steps[d];
    if (r.starts[d] >= x[d] || last < 0 || last >= x[d])
      return bad(c, fmt::format("expected positions inside dimension {} of {}, found {} to {}", d, shape_text(x), r.starts[d], last));
  }
  return r;
}

Types infer_slice(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  TW_TRY(SliceRange r, slice_range(c, operand(c, 0).shape));
  return result(c, operand(c, 0).dtype, std::move(r.sizes));
}

Tensors slice_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  TW_TRY(const SliceRange r, slice_range(c, x.shape()));
  return std::vector{b.compute(
      "slice", r.sizes,
      [&](const Indices& i) {
        Indices at;
        for (size_t d = 0; d < i.size(); ++d) at.push_back(i[d] * r.steps[d] + r.starts[d]);
        return x.at(std::move(at));
      },
      "injective")};
}

}  // namespace

std::vector<OpDef> slice() {
  return {{"slice", FusionKind::injective, infer_slice, slice_to_te, kExact,
           "sizes elements a dimension, from starts on, steps apart (negative steps go backwards)"}};
}

}  // namespace tw::graph::ops
