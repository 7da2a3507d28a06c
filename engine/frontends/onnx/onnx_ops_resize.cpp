// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "engine/frontends/onnx/onnx_ops.h"
#include "engine/frontends/shared/resample.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

std::vector<double> reals_of(const HostArray& a) {
  std::vector<double> out;
  for (int64_t i = 0; i < a.num_elements(); ++i) out.push_back(a.get(i));
  return out;
}

/// One entry a dimension from scales (or sizes) for the dimensions in `which`.
std::vector<ResampleAxis> scaled_axes(const OnnxNode& n, const Dims& shape, const Dims& which, const std::vector<double>& scales, const Dims& sizes) {
  std::vector<ResampleAxis> axes;
  for (const int64_t e : shape) axes.push_back({e, e, 1});
  if ((scales.empty() ? sizes.size() : scales.size()) != which.size()) n.invalid(fmt::format("expected {} scales or sizes", which.size()));
  for (size_t k = 0; k < which.size(); ++k) {
    ResampleAxis& a = axes[static_cast<size_t>(which[k])];
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
  return {resampled(n, x, {n.text("mode", "nearest"), "asymmetric", "floor"}, scaled_axes(n, n.shape(x), all_axes(n, x), scales, {}))};
}

/// One scale for all dimensions, so that the result fits into the sizes or covers them.
void keep_aspect_ratio(const OnnxNode& n, const std::string& policy, std::vector<ResampleAxis>& axes, const Dims& which) {
  if (policy == "stretch") return;
  if (policy != "not_larger" && policy != "not_smaller")
    n.invalid(fmt::format("expected keep_aspect_ratio_policy 'stretch', 'not_larger' or 'not_smaller', found '{}'", printable(policy.substr(0, 64))));
  double scale = policy == "not_larger" ? HUGE_VAL : 0;
  for (const int64_t d : which) {
    const double own = axes[static_cast<size_t>(d)].scale;
    scale = policy == "not_larger" ? std::min(scale, own) : std::max(scale, own);
  }
  for (const int64_t d : which) {
    ResampleAxis& a = axes[static_cast<size_t>(d)];
    const double extent = scale * static_cast<double>(a.in);
    if (!(extent >= 0 && extent <= kMostResampled)) n.invalid(fmt::format("an output extent of {}", extent));
    a.scale = scale;
    a.out = static_cast<int64_t>(std::floor(scale * static_cast<double>(a.in) + 0.5));
  }
}

void set_regions(const OnnxNode& n, std::vector<ResampleAxis>& axes, const Dims& which) {
  const std::vector<double> region = reals_of(n.constant_input(1, "the region of interest"));
  if (region.size() != 2 * which.size()) n.invalid(fmt::format("expected {} numbers as the region of interest, found {}", 2 * which.size(), region.size()));
  for (const double r : region)
    if (!(std::abs(r) <= 1e6)) n.invalid(fmt::format("expected a region of interest near the image, found {}", r));
  for (size_t k = 0; k < which.size(); ++k) {
    ResampleAxis& a = axes[static_cast<size_t>(which[k])];
    a.start = region[k];
    a.end = region[k + which.size()];
  }
}

Results resize(OnnxNode& n) {
  if (n.opset() < 11) return upsample(n);
  const int x = n.in(0);
  const ResampleMode m{n.text("mode", "nearest"),
               n.text("coordinate_transformation_mode", "half_pixel"),
               n.text("nearest_mode", "round_prefer_floor"),
               n.real("cubic_coeff_a", -0.75),
               n.integer("exclude_outside", 0) != 0,
               n.integer("antialias", 0) != 0};
  const Dims which = n.has_attr("axes") ? n.axes(n.integers("axes", {}), n.rank(x)) : all_axes(n, x);
  const std::vector<double> scales = n.has(2) && n.type(n.in(2)).num_elements() > 0 ? reals_of(n.constant_input(2, "the scales")) : std::vector<double>{};
  if (scales.empty() && !n.has(3)) n.invalid("neither scales nor sizes are given");
  std::vector<ResampleAxis> axes = scaled_axes(n, n.shape(x), which, scales, scales.empty() ? n.integers_input(3, "the sizes") : Dims{});
  if (scales.empty()) keep_aspect_ratio(n, n.text("keep_aspect_ratio_policy", "stretch"), axes, which);
  const bool crop = m.coordinates == "tf_crop_and_resize";
  if (crop) set_regions(n, axes, which);
  const int y = resampled(n, x, m, axes);
  return {crop ? extrapolated(n, y, m, axes, n.real("extrapolation_value", 0)) : y};
}

constexpr OnnxOp kResizeOps[] = {{"Resize", resize}, {"Upsample", upsample}};

}  // namespace

std::span<const OnnxOp> onnx_ops_resize() { return kResizeOps; }

}  // namespace tw::frontends
