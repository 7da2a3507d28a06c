// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/graph/ops/ops.h"

namespace tw::graph::ops {

namespace {

constexpr int64_t kMost = int64_t{1} << 30;  ///< extents, strides, dilations, paddings and elements of a window

/// Windows over an image, by dimension of it.
struct Windows {
  Dims image, kernel, strides, dilations, before;
  Dims counts;  ///< of windows
  int64_t window = 1, windows = 1;
};

/// Columns [N, C * window, windows]; attributes image, kernel, strides, dilations, pads (begins and ends).
Expected<Windows> windows_of(const OpContext& c) {
  Windows w;
  w.image = c.node->attrs.integers("image", {});
  const size_t dims = w.image.size();
  if (dims == 0) return bad(c, "expected an image of at least one dimension");
  TW_TRY(w.kernel, integers_attr(c, "kernel", dims, 1, 1));
  TW_TRY(w.strides, integers_attr(c, "strides", dims, 1, 1));
  TW_TRY(w.dilations, integers_attr(c, "dilations", dims, 1, 1));
  TW_TRY(const Dims pads, integers_attr(c, "pads", 2 * dims, 0, 0));
  w.before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(dims));
  for (size_t d = 0; d < dims; ++d) {
    for (const int64_t v : {w.image[d], w.kernel[d], w.strides[d], w.dilations[d], pads[d] + 1, pads[d + dims] + 1})
      if (v < 1 || v > kMost) return bad(c, fmt::format("expected extents, strides and dilations from 1 to {} and paddings from 0, found {}", kMost, v));
    const int64_t room = w.image[d] + pads[d] + pads[d + dims] - ((w.kernel[d] - 1) * w.dilations[d] + 1);
    if (room < 0) return bad(c, fmt::format("a block {} does not fit an image {}", shape_text(w.kernel), shape_text(w.image)));
    w.counts.push_back(room / w.strides[d] + 1);
    w.window *= w.kernel[d];
    w.windows *= w.counts[d];
    if (w.window > kMost || w.windows > int64_t{1} << 40)
      return bad(c, fmt::format("an image {} of blocks {} is too large", shape_text(w.image), shape_text(w.kernel)));
  }
  return w;
}

Types infer_columns_to_image(const OpContext& c) {
  TW_CHECK(check_operands(c, 1, 1));
  TW_CHECK(check_rank(c, 0, 3));
  const TensorType& x = operand(c, 0);
  if (x.dtype.is_bool()) return bad(c, "expected a numeric operand, found bool");
  TW_TRY(const Windows w, windows_of(c));
  if (x.shape[1] % w.window != 0 || x.shape[2] != w.windows)
    return bad(c, fmt::format("expected columns [N, C * {}, {}], found {}", w.window, w.windows, shape_text(x.shape)));
  Dims shape{x.shape[0], x.shape[1] / w.window};
  shape.insert(shape.end(), w.image.begin(), w.image.end());
  return result(c, x.dtype, std::move(shape));
}

/// Every position adds up the elements of windows that fall on it. Positions s * q + r of one phase r of the strides meet the same taps, and windows that lie
/// beside each other: phases are added up apart and put between each other. With windows that are not dilated the taps are k = (r + p) mod s, k + s, ..., of
/// which tap number t is of window q + (r + p) / s - t.
Tensors columns_to_image_te(te::DagBuilder& b, const OpContext& c, Operands in) {
  const te::Tensor& x = *in[0];
  TW_TRY(const Windows w, windows_of(c));
  const size_t dims = w.image.size();
  const bool phases = std::any_of(w.strides.begin(), w.strides.end(), [](int64_t s) { return s > 1; });
  Dims taps, shape{x.shape()[0], x.shape()[1] / w.window};
  for (size_t d = 0; d < dims; ++d) taps.push_back(w.dilations[d] == 1 ? (w.kernel[d] + w.strides[d] - 1) / w.strides[d] : w.kernel[d]);
  if (phases) shape.insert(shape.end(), w.strides.begin(), w.strides.end());
  for (size_t d = 0; d < dims; ++d) shape.push_back((w.image[d] + w.strides[d] - 1) / w.strides[d]);
  const auto body = [&](const Indices& s, const Indices& r) {
    Expr tap = ir::index(0), window = ir::index(0), falls = ir::bool_imm(true);
    for (size_t d = 0; d < dims; ++d) {
      const Expr stride = ir::index(w.strides[d]), start = (phases ? s[d + 2] : ir::index(0)) + w.before[d];
      Expr k = r[d], at = s[d + (phases ? 2 + dims : 2)];
      if (w.dilations[d] == 1) {
        k = ir::floor_mod(start, stride) + r[d] * w.strides[d];
        at = at + ir::floor_div(start, stride) - r[d];
        if (w.kernel[d] % w.strides[d] != 0) falls = falls && k < ir::index(w.kernel[d]);
      } else {
        const Expr from = start - r[d] * w.dilations[d];
        at = at + ir::floor_div(from, stride);
        if (w.strides[d] > 1) falls = falls && ir::floor_mod(from, stride) <= ir::index(0);
      }
      falls = falls && ir::index(0) <= at && at < ir::index(w.counts[d]);
      tap = tap * w.kernel[d] + k;
      window = window * w.counts[d] + at;
    }
    return ir::select(falls, x.at({s[0], s[1] * w.window + tap, window}), ir::zero(x.dtype()));
  };
  const te::Tensor sums = b.reduce(phases ? "phases" : "columns_to_image", shape, taps, te::Reducer::sum, body);
  if (!phases) return std::vector{sums};
  return std::vector{b.compute(
      "columns_to_image", c.outputs[0].shape,
      [&](const Indices& i) {
        Indices at{i[0], i[1]};
        for (size_t d = 0; d < dims; ++d) at.push_back(ir::floor_mod(i[d + 2], ir::index(w.strides[d])));
        for (size_t d = 0; d < dims; ++d) at.push_back(ir::floor_div(i[d + 2], ir::index(w.strides[d])));
        return sums.at(at);
      },
      "injective")};
}

}  // namespace

std::vector<OpDef> columns_to_image() {
  return {{"columns_to_image", FusionKind::reduction, infer_columns_to_image, columns_to_image_te, kArithmetic,
           "Sums of overlapping windows [N, C * window, windows] as an image [N, C, image...]"}};
}

}  // namespace tw::graph::ops
