// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/shared/resample.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tw::frontends {

namespace {

constexpr int64_t kMostTaps = 64;

/// Position in the input that output position `o` stands for, in numbers of type T: which of two neighbours a position in their middle goes to depends on it.
template <class T>
T source_in(const Emitter& n, const ResampleMode& m, const ResampleAxis& a, int64_t o) {
  const auto p = static_cast<T>(o), in = static_cast<T>(a.in), out = static_cast<T>(a.out), scale = static_cast<T>(a.scale),
             inverse = static_cast<T>(1 / a.scale);
  const auto start = static_cast<T>(a.start), end = static_cast<T>(a.end);
  const auto unscaled = [&](T x) { return m.multiplies ? x * inverse : x / scale; };
  const T middle = static_cast<T>(0.5), half = unscaled(p + middle) - middle;
  if (m.coordinates == "half_pixel") return half;
  if (m.coordinates == "half_pixel_symmetric") return in / 2 * (1 - out / (scale * in)) + half;
  if (m.coordinates == "pytorch_half_pixel") return a.out > 1 ? half : 0;
  if (m.coordinates == "align_corners") {
    if (a.out <= 1) return 0;
    return m.multiplies ? p * ((in - 1) / (out - 1)) : p * (in - 1) / (scale * in - 1);  // by the extent before rounding down
  }
  if (m.coordinates == "asymmetric") return unscaled(p);
  if (m.coordinates == "tf_crop_and_resize") return a.out > 1 ? start * (in - 1) + p * (end - start) * (in - 1) / (out - 1) : middle * (start + end) * (in - 1);
  if (m.coordinates == "tf_half_pixel_for_nn") return unscaled(p + middle);
  n.unsupported(fmt::format("coordinate mode '{}'", printable(m.coordinates.substr(0, 64))));
}
double source(const Emitter& n, const ResampleMode& m, const ResampleAxis& a, DType data, int64_t o) {
  return m.multiplies && data == kFloat64 ? source_in<double>(n, m, a, o) : static_cast<double>(source_in<float>(n, m, a, o));
}

int64_t nearest_index(const Emitter& n, const ResampleMode& m, double x) {
  if (m.nearest == "round_prefer_floor") return static_cast<int64_t>(std::ceil(x - 0.5));
  if (m.nearest == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
  if (m.nearest == "floor") return static_cast<int64_t>(std::floor(x));
  if (m.nearest == "ceil") return static_cast<int64_t>(std::ceil(x));
  n.unsupported(fmt::format("nearest mode '{}'", printable(m.nearest.substr(0, 64))));
}

/// Share of an element at distance d (at least 0). Source: Keys, "Cubic convolution interpolation for digital image processing", 1981, for the cubic one.
double kernel(const ResampleMode& m, double d) {
  if (m.kind == "linear") return std::max(0.0, 1 - d);
  const double a = m.cubic_a;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// Whether the table repeats every element `factor` times.
bool repeats(const HostArray& table, int64_t factor) {
  for (int64_t o = 0; o < table.num_elements(); ++o)
    if (table.get_int(o) != o / factor) return false;
  return true;
}

/// Nearest neighbours: whole repetitions become a broadcast, everything else a gather with a constant table.
int resample_nearest(Emitter& n, int v, int64_t axis, const ResampleMode& m, const ResampleAxis& a) {
  HostArray table = HostArray::make(kInt32, {a.out});
  for (int64_t o = 0; o < a.out; ++o) table.set_int(o, std::clamp<int64_t>(nearest_index(n, m, source(n, m, a, n.dtype(v), o)), 0, a.in - 1));
  if (a.out % a.in != 0 || !repeats(table, a.out / a.in)) return n.emit("gather", {v, n.constant(std::move(table))}, attrs({{"axis", axis}}));
  Dims result = n.shape(v), column = result, wide = result;
  result[static_cast<size_t>(axis)] = a.out;
  column.insert(column.begin() + axis + 1, 1);
  wide.insert(wide.begin() + axis + 1, a.out / a.in);
  return n.reshape(n.emit("broadcast_to", {n.reshape(v, column)}, attrs({{"shape", wide}})), result);
}

/// Weighted sums of the elements around each position. Against aliasing, shrinking widens the kernel.
int resample_smooth(Emitter& n, int v, int64_t axis, const ResampleMode& m, const ResampleAxis& a) {
  const double stretch = m.antialias ? std::min(a.scale, 1.0) : 1;
  const auto reach = static_cast<int64_t>(std::ceil((m.kind == "linear" ? 1 : 2) / stretch)), taps = 2 * reach;
  if (taps > kMostTaps) n.unsupported(fmt::format("shrinking to {} of {} elements against aliasing", a.out, a.in));
  HostArray indices = HostArray::make(kInt32, {a.out, taps}), weights = HostArray::make(n.dtype(v), {a.out, taps});
  for (int64_t o = 0; o < a.out; ++o) {
    double x = source(n, m, a, n.dtype(v), o);
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

/// What is left of a dimension below which the elements of a vector come from more than two others: from 320 to 224 columns it is faster to have them first,
/// from 128 to 64 to have them last by a factor of 1.7 (a Zen 5).
constexpr double kFar = 0.6;

}  // namespace

/// Positions outside of the image get one value.
int extrapolated(Emitter& n, int v, const ResampleMode& m, const std::vector<ResampleAxis>& axes, double value) {
  for (size_t d = 0; d < axes.size(); ++d) {
    Dims shape(axes.size(), 1);
    shape[d] = axes[d].out;
    HostArray outside = HostArray::make(kBool, shape);
    bool any = false;
    for (int64_t o = 0; o < axes[d].out; ++o) {
      const double x = source(n, m, axes[d], n.dtype(v), o);
      if (x >= 0 && x <= static_cast<double>(axes[d].in - 1)) continue;
      outside.set_int(o, 1);
      any = true;
    }
    if (any) v = n.emit("where", {n.constant(std::move(outside)), n.scalar(n.dtype(v), value), v});
  }
  return v;
}

/// Dimension by dimension: all three kinds are separable. Those that shrink come first, the most first, so that the others have less to do; of those that grow
/// the last, along which elements are picked one by one: there are fewer rows then. Where it shrinks so much that those of a vector lie far apart, it comes
/// behind all that shrink as much.
int resampled(Emitter& n, int v, const ResampleMode& m, const std::vector<ResampleAxis>& axes) {
  if (m.kind != "nearest" && m.kind != "linear" && m.kind != "cubic") n.unsupported(fmt::format("mode '{}'", printable(m.kind.substr(0, 64))));
  std::vector<size_t> order(axes.size());
  std::iota(order.rbegin(), order.rend(), 0);
  const size_t last = axes.size() - 1;
  const auto left = [&](size_t d) { return std::min(1.0, static_cast<double>(axes[d].out) / static_cast<double>(axes[d].in)); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (left(last) < kFar && a != b && (a == last || b == last)) return a == last ? left(b) >= kFar : left(a) < kFar;
    return left(a) < left(b);
  });
  for (const size_t d : order) {
    if (axes[d].out < 1 || axes[d].out > kMostResampled) n.invalid(fmt::format("an output extent of {}", axes[d].out));
    if (axes[d].out == axes[d].in && axes[d].scale == 1 && axes[d].start == 0 && axes[d].end == 1) continue;
    v = m.kind == "nearest" ? resample_nearest(n, v, static_cast<int64_t>(d), m, axes[d]) : resample_smooth(n, v, static_cast<int64_t>(d), m, axes[d]);
  }
  return v;
}

}  // namespace tw::frontends
