// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/shared/columns.h"

#include "engine/base/text.h"

namespace tw::frontends {

namespace {

/// Where element `p` of a window stands, by dimension.
Dims unravel(int64_t p, const Dims& extents) {
  Dims at(extents.size());
  for (size_t d = extents.size(); d-- > 0; p /= extents[d]) at[d] = p % extents[d];
  return at;
}

}  // namespace

int columns_to_image(Emitter& n, int x, const Columns& c) {
  const Dims &image = c.image, &block = c.block;
  const size_t dims = image.size();
  const Dims shape = n.shape(x);
  bool fits = dims > 0 && shape.size() == 3;
  for (const Dims* d : {&block, &c.dilations, &c.strides, &c.before, &c.after}) fits = fits && d->size() == dims;
  if (!fits) n.invalid("shapes, dilations, pads and strides that do not fit together");
  int64_t points = 1, window = 1, windows = 1;
  Dims counts;
  for (size_t d = 0; d < dims; ++d) {
    for (const int64_t v : {image[d], block[d], c.dilations[d], c.strides[d]})
      if (v < 1 || v > 1 << 16) n.invalid(fmt::format("expected extents, dilations and strides from 1 to 65536, found {}", v));
    if (c.before[d] < 0 || c.after[d] < 0 || c.before[d] > 1 << 16 || c.after[d] > 1 << 16) n.invalid("expected paddings from 0 to 65536");
    const int64_t room = image[d] + c.before[d] + c.after[d] - ((block[d] - 1) * c.dilations[d] + 1);
    if (room < 0) n.invalid(fmt::format("a block {} does not fit an image {}", shape_text(block), shape_text(image)));
    counts.push_back(room / c.strides[d] + 1);
    points *= image[d];
    window *= block[d];
    windows *= counts[d];
    if (points > 1 << 24 || window > 1 << 12 || windows > 1 << 24 || points * window > 1 << 26)
      n.unsupported(fmt::format("an image {} of blocks {}", shape_text(image), shape_text(block)));
  }
  if (shape[1] % window != 0 || shape[2] != windows) n.invalid(fmt::format("expected columns [N, C * {}, {}], found {}", window, windows, shape_text(shape)));
  HostArray table = HostArray::make(kInt64, {points, window});
  for (int64_t p = 0; p < points; ++p) {
    const Dims at = unravel(p, image);
    for (int64_t k = 0; k < window; ++k) {
      const Dims tap = unravel(k, block);
      int64_t from = 0;
      bool falls = true;
      for (size_t d = 0; d < dims && falls; ++d) {
        const int64_t start = at[d] + c.before[d] - tap[d] * c.dilations[d];
        falls = start >= 0 && start % c.strides[d] == 0 && start / c.strides[d] < counts[d];
        from = from * counts[d] + start / c.strides[d];
      }
      table.set_int(p * window + k, falls ? k * windows + from : window * windows);
    }
  }
  const int64_t channels = shape[1] / window;
  const int zeros = n.constant(HostArray::make(n.dtype(x), {shape[0], channels, 1}));
  const int flat = n.concat({n.reshape(x, {shape[0], channels, window * windows}), zeros}, 2);
  const int parts = n.emit("gather", {flat, n.constant(std::move(table))}, attrs({{"axis", int64_t{2}}}));
  Dims result{shape[0], channels};
  result.insert(result.end(), image.begin(), image.end());
  return n.reshape(n.reduce("reduce_sum", parts, {3}, false), result);
}

}  // namespace tw::frontends
