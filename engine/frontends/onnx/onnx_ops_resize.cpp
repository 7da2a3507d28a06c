// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

/// How one dimension is resampled. Source: Resize and Upsample in the ONNX operator reference.
struct Mode {
  std::string kind;         ///< nearest, linear or cubic
  std::string coordinates;  ///< coordinate_transformation_mode
  std::string nearest;      ///< nearest_mode
  double cubic_a = -0.75;
  bool exclude_outside = false;
};
struct Axis {
  int64_t in, out;
  double scale;
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

/// Weights of the taps around a position with fraction r: 2 for linear, 4 for cubic.
/// Source: Keys, "Cubic convolution interpolation for digital image processing", 1981, for the cubic ones.
std::vector<double> tap_weights(const Mode& m, double r) {
  if (m.kind == "linear") return {1 - r, r};
  const double a = m.cubic_a;
  const auto near = [a](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [a](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {far(r + 1), near(r), near(1 - r), far(2 - r)};
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

int resample_smooth(OnnxNode& n, int v, int64_t axis, const Mode& m, const Axis& a) {
  const int64_t taps = m.kind == "linear" ? 2 : 4;
  HostArray indices = HostArray::make(kInt64, {a.out, taps}), weights = HostArray::make(n.dtype(v), {a.out, taps});
  for (int64_t o = 0; o < a.out; ++o) {
    double x = source(n, m, a, o);
    if (m.kind == "linear") x = std::clamp(x, 0.0, static_cast<double>(a.in - 1));
    const double base = std::floor(x);
    std::vector<double> w = tap_weights(m, x - base);
    double total = 0;
    for (int64_t t = 0; t < taps; ++t) {
      const int64_t i = static_cast<int64_t>(base) + t - (taps / 2 - 1);
      if (m.exclude_outside && (i < 0 || i >= a.in)) w[static_cast<size_t>(t)] = 0;
      total += w[static_cast<size_t>(t)];
      indices.set_int(o * taps + t, std::clamp<int64_t>(i, 0, a.in - 1));
    }
    for (int64_t t = 0; t < taps; ++t) weights.set(o * taps + t, w[static_cast<size_t>(t)] / (m.exclude_outside ? total : 1));
  }
  return n.emit("resample", {v, n.constant(std::move(indices)), n.constant(std::move(weights))}, attrs({{"axis", axis}}));
}

/// Dimension by dimension: all three kinds are separable.
int resample(OnnxNode& n, int v, const Mode& m, const std::vector<Axis>& axes) {
  if (m.kind != "nearest" && m.kind != "linear" && m.kind != "cubic") n.unsupported(fmt::format("mode '{}'", printable(m.kind.substr(0, 64))));
  for (size_t d = 0; d < axes.size(); ++d) {
    if (axes[d].out < 1 || axes[d].out > (int64_t{1} << 24)) n.invalid(fmt::format("an output extent of {}", axes[d].out));
    if (axes[d].out == axes[d].in && axes[d].scale == 1) continue;
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

Results resize(OnnxNode& n) {
  if (n.opset() < 11) return upsample(n);
  const int x = n.in(0);
  if (n.integer("antialias", 0)) n.unsupported("antialiasing");
  if (n.text("keep_aspect_ratio_policy", "stretch") != "stretch") n.unsupported("keeping the aspect ratio");
  const Mode m{n.text("mode", "nearest"), n.text("coordinate_transformation_mode", "half_pixel"), n.text("nearest_mode", "round_prefer_floor"),
               n.real("cubic_coeff_a", -0.75), n.integer("exclude_outside", 0) != 0};
  const Dims which = n.has_attr("axes") ? n.axes(n.integers("axes", {}), n.rank(x)) : all_axes(n, x);
  const std::vector<double> scales = n.has(2) && n.type(n.in(2)).num_elements() > 0 ? reals_of(n.constant_input(2, "the scales")) : std::vector<double>{};
  if (scales.empty() && !n.has(3)) n.invalid("neither scales nor sizes are given");
  return {resample(n, x, m, scaled_axes(n, n.shape(x), which, scales, scales.empty() ? n.integers_input(3, "the sizes") : Dims{}))};
}

constexpr OnnxOp kOps[] = {{"Resize", resize}, {"Upsample", upsample}};

}  // namespace

std::span<const OnnxOp> onnx_ops_resize() { return kOps; }

}  // namespace tw::frontends
