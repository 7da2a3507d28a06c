// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "engine/frontends/shared/resample.h"
#include "engine/frontends/shared/sampling.h"
#include "engine/frontends/torch/aten.h"

namespace tw::frontends {

namespace {

/// Extents from `output_size`, or from factors: positions follow from the factors where those are given.
std::vector<ResampleAxis> axes_of(TorchNode& n, int x, size_t spatial, bool align) {
  const Dims s = n.shape(x);
  if (s.size() != spatial + 2) n.invalid(fmt::format("expected data with {} spatial dimensions, found {}", spatial, shape_text(s)));
  const Dims sizes = n.integers("output_size");
  std::vector<double> factors = n.reals("scale_factors");
  if (factors.empty())
    for (const char* name : spatial == 1 ? std::vector<const char*>{"scales"} : spatial == 2 ? std::vector<const char*>{"scales_h", "scales_w"}
                                                                                            : std::vector<const char*>{"scales_d", "scales_h", "scales_w"})
      if (n.has(name)) factors.push_back(n.real(name, 1));
  if (sizes.empty() ? factors.size() != spatial : sizes.size() != spatial) n.invalid(fmt::format("expected {} sizes or factors", spatial));
  std::vector<ResampleAxis> axes{{s[0], s[0], 1}, {s[1], s[1], 1}};
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t in = s[d + 2];
    if (!factors.empty() && !(factors[d] > 0 && factors[d] < 1 << 20)) n.invalid(fmt::format("expected factors above 0, found {}", factors[d]));
    const int64_t out = sizes.empty() ? static_cast<int64_t>(std::floor(static_cast<double>(in) * factors[d])) : sizes[d];
    const bool by_factor = factors.size() == spatial && !align;
    axes.push_back({in, out, by_factor ? factors[d] : static_cast<double>(out) / static_cast<double>(in)});
  }
  return axes;
}

TorchResults resized(TorchNode& n, size_t spatial, ResampleMode m) {
  m.multiplies = true;
  const int x = n.tensor(n.has("self") ? "self" : "input");
  return n.one(resampled(n, x, m, axes_of(n, x, spatial, m.coordinates == "align_corners")));
}

template <size_t kSpatial>
TorchResults nearest(TorchNode& n) {
  return resized(n, kSpatial, {"nearest", "asymmetric", "floor"});
}
template <size_t kSpatial>
TorchResults nearest_exact(TorchNode& n) {
  return resized(n, kSpatial, {"nearest", "half_pixel", "round_prefer_ceil"});
}
template <size_t kSpatial>
TorchResults linear_up(TorchNode& n) {
  return resized(n, kSpatial, {"linear", n.boolean("align_corners", false) ? "align_corners" : "half_pixel", "floor"});
}
TorchResults bicubic(TorchNode& n) { return resized(n, 2, {"cubic", n.boolean("align_corners", false) ? "align_corners" : "half_pixel", "floor", -0.75}); }
/// Against aliasing, elements outside of the image have no share.
TorchResults linear_smooth(TorchNode& n) {
  return resized(n, 2, {"linear", n.boolean("align_corners", false) ? "align_corners" : "half_pixel", "floor", -0.75, true, true});
}
TorchResults bicubic_smooth(TorchNode& n) {
  return resized(n, 2, {"cubic", n.boolean("align_corners", false) ? "align_corners" : "half_pixel", "floor", -0.5, true, true});
}

TorchResults grid_sampler(TorchNode& n) {
  constexpr const char *kModes[] = {"linear", "nearest", "cubic"}, *kPaddings[] = {"zeros", "border", "reflection"};
  const int64_t mode = n.integer("interpolation_mode", 0), padding = n.integer("padding_mode", 0);
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2) n.invalid(fmt::format("interpolation {} and padding {}", mode, padding));
  return n.one(grid_sampled(n, n.tensor("input"), n.tensor("grid"), {kModes[mode], kPaddings[padding], n.boolean("align_corners", false)}));
}

constexpr AtenOp kAtenResize[] = {
    {"aten._upsample_bicubic2d_aa", bicubic_smooth},
    {"aten._upsample_bilinear2d_aa", linear_smooth},
    {"aten._upsample_nearest_exact1d", nearest_exact<1>},
    {"aten._upsample_nearest_exact2d", nearest_exact<2>},
    {"aten._upsample_nearest_exact3d", nearest_exact<3>},
    {"aten.grid_sampler", grid_sampler},
    {"aten.grid_sampler_2d", grid_sampler},
    {"aten.grid_sampler_3d", grid_sampler},
    {"aten.upsample_bicubic2d", bicubic},
    {"aten.upsample_bilinear2d", linear_up<2>},
    {"aten.upsample_linear1d", linear_up<1>},
    {"aten.upsample_nearest1d", nearest<1>},
    {"aten.upsample_nearest2d", nearest<2>},
    {"aten.upsample_nearest3d", nearest<3>},
    {"aten.upsample_trilinear3d", linear_up<3>},
};

}  // namespace

std::span<const AtenOp> aten_resize() { return kAtenResize; }

}  // namespace tw::frontends
