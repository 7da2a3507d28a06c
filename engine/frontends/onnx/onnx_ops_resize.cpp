// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

constexpr int64_t kMostElements = int64_t{1} << 24;  ///< along one dimension of a result
constexpr int64_t kMostTaps = 64;

/// How one dimension is resampled. Source: Resize and Upsample in the ONNX operator reference.
struct Mode {
  std::string kind;         ///< nearest, linear or cubic
  std::string coordinates;  ///< coordinate_transformation_mode
  std::string nearest;      ///< nearest_mode
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
};
struct Axis {
  int64_t in, out;
  double scale;
  double start = 0, end = 1;  ///< the region that tf_crop_and_resize shows, as shares of the extent
};

/// Position in the input that output position `o` stands for.
double source(const OnnxNode& n, const Mode& m, const Axis& a, int64_t o) {
  const auto p = static_cast<double>(o), in = static_cast<double>(a.in), out = static_cast<double>(a.out);
  const double half = (p + 0.5) / a.scale - 0.5;
  if (m.coordinates == "half_pixel") return half;
  if (m.coordinates == "half_pixel_symmetric") return in / 2 * (1 - out / (a.scale * in)) + half;
  if (m.coordinates == "pytorch_half_pixel") return a.out > 1 ? half : 0;
  if (m.coordinates == "align_corners") return a.out > 1 ? p * (in - 1) / (a.scale * in - 1) : 0;  // the extent before rounding down
  if (m.coordinates == "asymmetric") return p / a.scale;
  if (m.coordinates == "tf_crop_and_resize")
    return a.out > 1 ? a.start * (in - 1) + p * (a.end - a.start) * (in - 1) / (out - 1) : 0.5 * (a.start + a.end) * (in - 1);
  if (m.coordinates == "tf_half_pixel_for_nn") return (p + 0.5) / a.scale;
  n.unsupported(fmt::format("coordinate mode '{}'", printable(m.coordinates.substr(0, 64))));
}

int64_t nearest_index(const OnnxNode& n, const Mode& m, double x) {
  if (m.nearest == "round_prefer_floor") return static_cast<int64_t>(std::ceil(x - 0.5));
  if (m.nearest == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
  if (m.nearest == "floor") return static_cast<int64_t>(std::floor(x));
  if (m.nearest == "ceil") return static_cast<int64_t>(std::ceil(x));
  n.unsupported(fmt::format("nearest mode '{}'", printable(m.nearest.substr(0, 64))));
}

/// Share of an element at distance d (at least 0). Source: Keys, "Cubic convolution interpolation for digital image processing", 1981, for the cubic one.
double kernel(const Mode& m, double d) {
  if (m.kind == "linear") return std::max(0.0, 1 - d);
  const double a = m.cubic_a;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// Whether the table repeats every element `factor` times.
bool repeats(const Dims& table, int64_t factor) {
  for (size_t o = 0; o < table.size(); ++o)
    if (table[o] != static_cast<int64_t>(o) / factor) return false;
  return true;
}

/// Nearest neighbours: whole repetitions become a broadcast, everything else a gather with a constant table.
int resample_nearest(OnnxNode& n, int v, int64_t axis, const Mode& m, const Axis& a) {
  Dims table;
  for (int64_t o = 0; o < a.out; ++o) table.push_back(std::clamp<int64_t>(nearest_index(n, m, source(n, m, a, o)), 0, a.in - 1));
  if (a.out % a.in != 0 || !repeats(table, a.out / a.in)) return n.emit("gather", {v, n.integers_constant(table)}, attrs({{"axis", axis}}));
  Dims result = n.shape(v), column = result, wide = result;
  result[static_cast<size_t>(axis)] = a.out;
  column.insert(column.begin() + axis + 1, 1);
  wide.insert(wide.begin() + axis + 1, a.out / a.in);
  return n.reshape(n.emit("broadcast_to", {n.reshape(v, column)}, attrs({{"shape", wide}})), result);
}

/// Weighted sums of the elements around each position. Against aliasing, shrinking widens the kernel.
int resample_smooth(OnnxNode& n, int v, int64_t axis, const Mode& m, const Axis& a) {
  const double stretch = m.antialias ? std::min(a.scale, 1.0) : 1;
  const auto reach = static_cast<int64_t>(std::ceil((m.kind == "linear" ? 1 : 2) / stretch)), taps = 2 * reach;
  if (taps > kMostTaps) n.unsupported(fmt::format("shrinking to {} of {} elements against aliasing", a.out, a.in));
  HostArray indices = HostArray::make(kInt64, {a.out, taps}), weights = HostArray::make(n.dtype(v), {a.out, taps});
  for (int64_t o = 0; o < a.out; ++o) {
    double x = source(n, m, a, o);
    if (m.kind == "linear" && !m.antialias) x = std::clamp(x, 0.0, static_cast<double>(a.in - 1));
    const double base = std::floor(x);
    std::vector<double> w;
    double total = 0;
    for (int64_t t = 0; t < taps; ++t) {
      const int64_t i = static_cast<int64_t>(base) + t - (reach - 1);
      w.push_back(m.exclude_outside && (i < 0 || i >= a.in) ? 0 : kernel(m, std::abs(static_cast<double>(i) - x) * stretch));
      total += w.back();
      indices.set_int(o * taps + t, std::clamp<int64_t>(i, 0, a.in - 1));
    }
    for (int64_t t = 0; t < taps; ++t) weights.set(o * taps + t, w[static_cast<size_t>(t)] / (m.exclude_outside || m.antialias ? total : 1));
  }
  return n.emit("resample", {v, n.constant(std::move(indices)), n.constant(std::move(weights))}, attrs({{"axis", axis}}));
}

/// Positions outside of the image get one value.
int extrapolated(OnnxNode& n, int v, const Mode& m, const std::vector<Axis>& axes, double value) {
  for (size_t d = 0; d < axes.size(); ++d) {
    Dims shape(axes.size(), 1);
    shape[d] = axes[d].out;
    HostArray outside = HostArray::make(kBool, shape);
    bool any = false;
    for (int64_t o = 0; o < axes[d].out; ++o) {
      const double x = source(n, m, axes[d], o);
      if (x >= 0 && x <= static_cast<double>(axes[d].in - 1)) continue;
      outside.set_int(o, 1);
      any = true;
    }
    if (any) v = n.emit("where", {n.constant(std::move(outside)), n.scalar(n.dtype(v), value), v});
  }
  return v;
}

/// Dimension by dimension: all three kinds are separable.
int resample(OnnxNode& n, int v, const Mode& m, const std::vector<Axis>& axes) {
  if (m.kind != "nearest" && m.kind != "linear" && m.kind != "cubic") n.unsupported(fmt::format("mode '{}'", printable(m.kind.substr(0, 64))));
  for (size_t d = 0; d < axes.size(); ++d) {
    if (axes[d].out < 1 || axes[d].out > kMostElements) n.invalid(fmt::format("an output extent of {}", axes[d].out));
    if (axes[d].out == axes[d].in && axes[d].scale == 1 && axes[d].start == 0 && axes[d].end == 1) continue;
    v = m.kind == "nearest" ? resample_nearest(n, v, static_cast<int64_t>(d), m, axes[d]) : resample_smooth(n, v, static_cast<int64_t>(d), m, axes[d]);
  }
  return v;
}

std::vector<double> reals_of(const HostArray& a) {
  std::vector<double> out;
  for (int64_t i = 0; i < a.num_elements(); ++i) out.push_back(a.get(i));
  return out;
}

/// One entry a dimension from scales (or sizes) for the dimensions in `which`.
std::vector<Axis> scaled_axes(const OnnxNode& n, const Dims& shape, const Dims& which, const std::vector<double>& scales, const Dims& sizes) {
  std::vector<Axis> axes;
  for (const int64_t e : shape) axes.push_back({e, e, 1});
  if ((scales.empty() ? sizes.size() : scales.size()) != which.size()) n.invalid(fmt::format("expected {} scales or sizes", which.size()));
  for (size_t k = 0; k < which.size(); ++k) {
    Axis& a = axes[static_cast<size_t>(which[k])];
    if (scales.empty()) {
      a.out = sizes[k];
      a.scale = static_cast<double>(a.out) / static_cast<double>(a.in);
    } else {
      if (!(scales[k] > 0) || scales[k] > 1 << 20) n.invalid(fmt::format("expected scales above 0, found {}", scales[k]));
      a.scale = scales[k];
      a.out = static_cast<int64_t>(std::floor(static_cast<float>(a.in) * static_cast<float>(scales[k])));
    }
  }
  return axes;
}

Dims all_axes(const OnnxNode& n, int v) {
  Dims out;
  for (int64_t d = 0; d < n.rank(v); ++d) out.push_back(d);
  return out;
}

/// Upsample, and Resize as it was in opset 10.
Results upsample(OnnxNode& n) {
  const int x = n.in(0);
  if (n.opset() < 7) n.unsupported("the form of opsets before 7");
  const std::vector<double> scales = n.opset() >= 9 ? reals_of(n.constant_input(1, "the scales")) : n.reals("scales", {});
  return {resample(n, x, {n.text("mode", "nearest"), "asymmetric", "floor"}, scaled_axes(n, n.shape(x), all_axes(n, x), scales, {}))};
}

/// One scale for all dimensions, so that the result fits into the sizes or covers them.
void keep_aspect_ratio(const OnnxNode& n, const std::string& policy, std::vector<Axis>& axes, const Dims& which) {
  if (policy == "stretch") return;
  if (policy != "not_larger" && policy != "not_smaller")
    n.invalid(fmt::format("expected keep_aspect_ratio_policy 'stretch', 'not_larger' or 'not_smaller', found '{}'", printable(policy.substr(0, 64))));
  double scale = policy == "not_larger" ? HUGE_VAL : 0;
  for (const int64_t d : which) {
    const double own = axes[static_cast<size_t>(d)].scale;
    scale = policy == "not_larger" ? std::min(scale, own) : std::max(scale, own);
  }
  for (const int64_t d : which) {
    Axis& a = axes[static_cast<size_t>(d)];
    const double extent = scale * static_cast<double>(a.in);
    if (!(extent >= 0 && extent <= kMostElements)) n.invalid(fmt::format("an output extent of {}", extent));
    a.scale = scale;
    a.out = static_cast<int64_t>(std::floor(scale * static_cast<double>(a.in) + 0.5));
  }
}

void set_regions(const OnnxNode& n, std::vector<Axis>& axes, const Dims& which) {
  const std::vector<double> region = reals_of(n.constant_input(1, "the region of interest"));
  if (region.size() != 2 * which.size()) n.invalid(fmt::format("expected {} numbers as the region of interest, found {}", 2 * which.size(), region.size()));
  for (const double r : region)
    if (!(std::abs(r) <= 1e6)) n.invalid(fmt::format("expected a region of interest near the image, found {}", r));
  for (size_t k = 0; k < which.size(); ++k) {
    Axis& a = axes[static_cast<size_t>(which[k])];
    a.start = region[k];
    a.end = region[k + which.size()];
  }
}

Results resize(OnnxNode& n) {
  if (n.opset() < 11) return upsample(n);
  const int x = n.in(0);
  const Mode m{n.text("mode", "nearest"),
               n.text("coordinate_transformation_mode", "half_pixel"),
               n.text("nearest_mode", "round_prefer_floor"),
               n.real("cubic_coeff_a", -0.75),
               n.integer("exclude_outside", 0) != 0,
               n.integer("antialias", 0) != 0};
  const Dims which = n.has_attr("axes") ? n.axes(n.integers("axes", {}), n.rank(x)) : all_axes(n, x);
  const std::vector<double> scales = n.has(2) && n.type(n.in(2)).num_elements() > 0 ? reals_of(n.constant_input(2, "the scales")) : std::vector<double>{};
  if (scales.empty() && !n.has(3)) n.invalid("neither scales nor sizes are given");
  std::vector<Axis> axes = scaled_axes(n, n.shape(x), which, scales, scales.empty() ? n.integers_input(3, "the sizes") : Dims{});
  if (scales.empty()) keep_aspect_ratio(n, n.text("keep_aspect_ratio_policy", "stretch"), axes, which);
  const bool crop = m.coordinates == "tf_crop_and_resize";
  if (crop) set_regions(n, axes, which);
  const int y = resample(n, x, m, axes);
  return {crop ? extrapolated(n, y, m, axes, n.real("extrapolation_value", 0)) : y};
}

constexpr OnnxOp kResizeOps[] = {{"Resize", resize}, {"Upsample", upsample}};

}  // namespace

std::span<const OnnxOp> onnx_ops_resize() { return kResizeOps; }

}  // namespace tw::frontends
