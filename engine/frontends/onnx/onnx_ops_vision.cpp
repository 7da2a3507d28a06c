// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "engine/frontends/onnx/onnx_ops.h"
#include "engine/frontends/shared/columns.h"
#include "engine/frontends/shared/sampling.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

Results grid_sample(OnnxNode& n) {
  Sampling s{n.text("mode", "linear"), n.text("padding_mode", "zeros"), n.integer("align_corners", 0) != 0};
  if (s.mode == "bilinear") s.mode = "linear";
  if (s.mode == "bicubic") s.mode = "cubic";
  return {grid_sampled(n, n.in(0), n.in(1), s)};
}

// ---- RoiAlign. Source: the ONNX operator reference, RoiAlign-10 and -16; He et al., "Mask R-CNN", ICCV 2017.

/// Sampling positions of every region along one dimension, [regions, cells * ratio], as two taps.
std::vector<Tap> region_taps(OnnxNode& n, const Term& start, const Term& end, int64_t cells, int64_t ratio, int64_t extent, bool half_pixel) {
  const double scale = n.real("spatial_scale", 1), shift = half_pixel ? 0.5 : 0;
  const Term from = start * scale - shift, whole = (end * scale - shift) - from;
  const Term length = half_pixel ? whole : Term{&n, n.with_scalar("max", whole.v, 1)};
  HostArray steps = HostArray::make(n.dtype(start.v), {1, cells * ratio});
  for (int64_t i = 0; i < cells * ratio; ++i) steps.set(i, (static_cast<double>(i) + 0.5) / static_cast<double>(ratio * cells));
  const Term x = from + length * Term{&n, n.constant(std::move(steps))};
  const auto size = static_cast<double>(extent);
  // Points more than one element outside count as zeros, the others as the border.
  const Term counts{&n, n.cast(x.clipped(-1, size).with("equal", x).v, n.dtype(x.v))};
  const Term inside = x.clipped(0, size - 1), low = inside.apply("floor"), r = inside - low;
  return {{low.integer(), ((r * -1) + 1) * counts}, {(low + 1).clipped(0, size - 1).integer(), r * counts}};
}

int reshaped_to(OnnxNode& n, int v, const Dims& shape, const Dims& wide) {
  const int r = n.reshape(v, shape);
  return shape == wide ? r : n.emit("broadcast_to", {r}, attrs({{"shape", wide}}));
}

Results roi_align(OnnxNode& n) {
  const int x = n.in(0), regions = n.in(1), batch = n.in(2);
  if (n.rank(x) != 4 || n.rank(regions) != 2 || n.shape(regions)[1] != 4 || n.rank(batch) != 1 || n.shape(batch)[0] != n.shape(regions)[0])
    n.invalid(
        fmt::format("regions {} and batch indices {} do not fit data {}", shape_text(n.shape(regions)), shape_text(n.shape(batch)), shape_text(n.shape(x))));
  const std::string mode = n.text("mode", "avg"), coordinates = n.text("coordinate_transformation_mode", n.opset() < 16 ? "output_half_pixel" : "half_pixel");
  if (mode != "avg" && mode != "max") n.invalid(fmt::format("expected mode 'avg' or 'max', found '{}'", printable(mode.substr(0, 64))));
  const int64_t ratio = n.integer("sampling_ratio", 0), rows = n.integer("output_height", 1), columns = n.integer("output_width", 1);
  if (ratio == 0) n.unsupported("a sampling_ratio of 0: how many points a region needs is known only at run time");
  for (const int64_t v : {ratio, rows, columns})
    if (v < 1 || v > 1024) n.invalid(fmt::format("expected sampling_ratio, output_height and output_width from 1 to 1024, found {}", v));
  const int64_t count = n.shape(regions)[0], height = rows * ratio, width = columns * ratio;
  const auto corner = [&](int64_t i) { return Term{&n, n.slice(regions, 1, i, 1)}; };
  const bool half = coordinates == "half_pixel";
  const auto ys = region_taps(n, corner(1), corner(3), rows, ratio, n.shape(x)[2], half),
             xs = region_taps(n, corner(0), corner(2), columns, ratio, n.shape(x)[3], half);
  const int data = channels_last(n, x);
  const Dims one{count, height, width, 1};
  const int image = reshaped_to(n, n.cast(batch, kInt32), {count, 1, 1, 1}, one);
  std::optional<Term> sum;
  for (const std::vector<Tap>& c : combinations({ys, xs})) {
    const int y = reshaped_to(n, c[0].index.v, {count, height, 1, 1}, one), z = reshaped_to(n, c[1].index.v, {count, 1, width, 1}, one);
    const Term weight = Term{&n, n.reshape(c[0].weight.v, {count, height, 1, 1})} * Term{&n, n.reshape(c[1].weight.v, {count, 1, width, 1})};
    const Term term = Term{&n, n.emit("gather_nd", {data, n.emit("concat", {image, y, z}, attrs({{"axis", int64_t{3}}}))})} * weight;
    // The reference takes the largest weighted neighbour, not the largest interpolated value.
    sum = !sum ? term : mode == "avg" ? *sum + term : sum->with("max", term);
  }
  const int parts = n.reshape(sum->v, {count, rows, ratio, columns, ratio, n.shape(x)[1]});
  const int cells = n.emit(mode == "avg" ? "reduce_mean" : "reduce_max", {parts}, attrs({{"axes", Dims{2, 4}}, {"keepdims", int64_t{0}}}));
  return {n.transpose(cells, {0, 3, 1, 2})};
}

// ---- Grids, crops and columns. Source: the ONNX operator reference, AffineGrid-20, CenterCropPad-18 and Col2Im-18 (columns_to_image).

/// Points of a grid over [-1, 1] in every dimension, as [points, dimensions + 1] with the last dimension first and a one behind.
HostArray homogeneous_grid(const OnnxNode& n, DType t, const Dims& extents, bool align) {
  int64_t points = 1;
  for (const int64_t e : extents) {
    if (e < 1 || e > 1 << 20 || (points *= e) > 1 << 24) n.unsupported(fmt::format("a grid of {}", shape_text(extents)));
    if (align && e == 1) n.unsupported("a grid of one point that is aligned with both corners");
  }
  const auto dims = static_cast<int64_t>(extents.size());
  HostArray grid = HostArray::make(t, {points, dims + 1});
  for (int64_t p = 0; p < points; ++p) {
    int64_t rest = p;
    for (int64_t d = dims; d-- > 0;) {
      const int64_t e = extents[static_cast<size_t>(d)];
      const auto i = static_cast<double>(rest % e), size = static_cast<double>(e);
      rest /= e;
      grid.set(p * (dims + 1) + dims - 1 - d, align ? 2 * i / (size - 1) - 1 : (2 * i + 1) / size - 1);
    }
    grid.set(p * (dims + 1) + dims, 1);
  }
  return grid;
}

Results affine_grid(OnnxNode& n) {
  const int theta = n.in(0);
  const Dims size = n.integers_input(1, "the size");
  const auto dims = static_cast<int64_t>(size.size()) - 2;
  if (dims < 2 || dims > 3 || n.shape(theta) != Dims{size[0], dims, dims + 1})
    n.invalid(fmt::format("matrices {} do not fit a size {}", shape_text(n.shape(theta)), shape_text(size)));
  const Dims extents(size.begin() + 2, size.end());
  const int points = n.constant(homogeneous_grid(n, n.dtype(theta), extents, n.integer("align_corners", 0) != 0));
  Dims shape{size[0]};
  shape.insert(shape.end(), extents.begin(), extents.end());
  shape.push_back(dims);
  return {n.reshape(n.binary("matmul", points, n.transpose(theta, {0, 2, 1})), shape)};
}

Results center_crop_pad(OnnxNode& n) {
  int x = n.in(0);
  const Dims wanted = n.integers_input(1, "the shape");
  Dims axes;
  for (int64_t d = 0; d < n.rank(x); ++d) axes.push_back(d);
  if (n.has_attr("axes")) axes = n.axes(n.integers("axes", {}), n.rank(x));
  if (wanted.size() != axes.size()) n.invalid(fmt::format("expected {} extents, found {}", axes.size(), wanted.size()));
  Dims pads(2 * static_cast<size_t>(n.rank(x)), 0);
  for (size_t k = 0; k < axes.size(); ++k) {
    const auto d = static_cast<size_t>(axes[k]);
    const int64_t extent = n.shape(x)[d], more = wanted[k] - extent;
    if (wanted[k] < 1 || wanted[k] > int64_t{1} << 31) n.invalid(fmt::format("an output extent of {}", wanted[k]));
    if (more < 0) x = n.slice(x, axes[k], -more / 2, wanted[k]);
    if (more <= 0) continue;
    pads[d] = more / 2;
    pads[d + static_cast<size_t>(n.rank(x))] = more - more / 2;
  }
  return {n.emit("pad", {x}, attrs({{"pads", pads}, {"mode", "constant"}, {"value", 0.0}}))};
}

Results col2im(OnnxNode& n) {
  const Dims image = n.integers_input(1, "the image shape");
  const size_t dims = image.size();
  const Dims pads = n.integers("pads", Dims(2 * dims, 0));
  if (pads.size() != 2 * dims) n.invalid("shapes, dilations, pads and strides that do not fit together");
  const auto after = pads.begin() + static_cast<std::ptrdiff_t>(dims);
  return {columns_to_image(n, n.in(0),
                           {image, n.integers_input(2, "the block shape"), n.integers("dilations", Dims(dims, 1)), n.integers("strides", Dims(dims, 1)), {pads.begin(), after}, {after, pads.end()}})};
}

constexpr OnnxOp kVisionOps[] = {
    {"AffineGrid", affine_grid}, {"CenterCropPad", center_crop_pad}, {"Col2Im", col2im}, {"GridSample", grid_sample}, {"RoiAlign", roi_align},
};

}  // namespace

std::span<const OnnxOp> onnx_ops_vision() { return kVisionOps; }

}  // namespace tw::frontends
