// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

/// Attributes: pads ([begins..., ends...], not negative), mode ("constant", "edge", "reflect" or "wrap"), value.
Types infer_pad(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  const TensorType& x = operand(c, 0);
  const size_t rank = x.shape.size();
  TW_TRY(const Dims pads, integers_attr(c, "pads", 2 * rank, 0, 0));
  const std::string mode = c.node->attrs.text("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap")
    return bad(c, fmt::format("expected mode 'constant', 'edge', 'reflect' or 'wrap', found '{}'", mode));
  Dims shape = x.shape;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t most = std::max(pads[d], pads[d + rank]);
    const int64_t limit = mode == "reflect" ? x.shape[d] - 1 : mode == "wrap" ? x.shape[d] : most;
    if (most > limit) return bad(c, fmt::format("expected at most {} elements of padding in mode '{}', found {} in dimension {}", limit, mode, most, d));
    shape[d] += pads[d] + pads[d + rank];
  }
  return result(c, x.dtype, std::move(shape));
}

/// Position in [0, n) that the padded position `p` (which may lie outside) repeats.
Expr repeated(const std::string& mode, const Expr& p, int64_t n) {
  if (mode == "edge") return ir::min(ir::max(p, ir::index(0)), ir::index(n - 1));
  const Expr below = p < ir::index(0), above = ir::index(n - 1) < p;
  if (mode == "reflect") return ir::select(below, ir::index(0) - p, ir::select(above, ir::index(2 * (n - 1)) - p, p));
  return ir::select(below, p + n, ir::select(above, p - n, p));
}

Tensors pad_to_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  const auto rank = static_cast<size_t>(x.rank());
  TW_TRY(const Dims pads, integers_attr(c, "pads", 2 * rank, 0, 0));
  const std::string mode = c.node->attrs.text("mode", "constant");
  const double number = c.node->attrs.real("value", 0);
  // Of whole numbers the attribute may be one: a double has not all of 64 bits.
  const Expr value = x.dtype().is_float() ? ir::constant(x.dtype(), number) : ir::imm(x.dtype(), c.node->attrs.integer("value", static_cast<int64_t>(number)));
  const auto body = [&](const Indices& i) {
    Indices at;
    Expr inside = ir::bool_imm(true);
    for (size_t d = 0; d < rank; ++d) {
      const Expr p = i[d] - pads[d];
      const bool any = pads[d] > 0 || pads[d + rank] > 0;
      at.push_back(any && mode != "constant" ? repeated(mode, p, x.shape()[d]) : p);
      if (pads[d] > 0) inside = inside && ir::index(pads[d]) <= i[d];
      if (pads[d + rank] > 0) inside = inside && i[d] < ir::index(pads[d] + x.shape()[d]);
    }
    const Expr read = x.at(at);
    return mode == "constant" ? ir::select(inside, read, value) : read;
  };
  return std::vector{b.compute("pad", c.outputs[0].shape, body, mode == "constant" ? "pad" : "injective", {{"pads", pads}})};
}

}  // namespace

std::vector<OpDef> pad() {
  return {{"pad", FusionKind::injective, infer_pad, pad_to_te, kExact,
           "Elements added around the operand: a constant value, or its edge, reflection or repetition"}};
}

}  // namespace tw::graph::ops
