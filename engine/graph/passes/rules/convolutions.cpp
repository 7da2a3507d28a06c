// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>

#include "engine/graph/passes/rules/rule.h"

namespace tw::graph::rules {

namespace {

using Dims = std::vector<int64_t>;

bool all_are(const Dims& d, int64_t v) {
  return std::all_of(d.begin(), d.end(), [v](int64_t x) { return x == v; });
}

/// out[n, o, p] = sum over c of weight[o, c] * x[n, c, p]. Templates of convolutions for processors lay their weights out ahead of time; a product of matrices
/// can do with ones that the network computes, as mixtures of experts do (Yang et al., "CondConv", NeurIPS 2019).
Expected<Outcome> convolution_of_computed_weights(Site& s) {
  if (s.target().gpu || s.constant(s.input(1))) return nothing();
  const Dims x = s.type(s.input(0)).shape, w = s.type(s.input(1)).shape, y = s.result().shape;
  const size_t spatial = x.size() - 2;
  const Attrs& a = s.draft().attrs;
  const bool pointwise =
      all_are(Dims(w.begin() + 2, w.end()), 1) && all_are(a.integers("strides", Dims(spatial, 1)), 1) && all_are(a.integers("pads", Dims(2 * spatial, 0)), 0);
  if (!pointwise || a.integer("groups", 1) != 1 || !s.result().dtype.is_float()) return nothing();
  int64_t pixels = 1;
  for (size_t d = 2; d < x.size(); ++d) pixels *= x[d];
  TW_TRY(const int matrix, s.reshaped(s.input(1), {1, w[0], w[1]}, ".matrix"));
  TW_TRY(const int rows, s.reshaped(s.input(0), {x[0], x[1], pixels}, ".rows"));
  TW_TRY(const int product, s.add_node({"matmul", {matrix, rows}, {}}, ".product"));
  if (s.draft().inputs.size() < 3 || s.input(2) < 0) return Outcome(reshape_of(product, y));
  TW_TRY(const int image, s.reshaped(product, y, ".image"));
  Dims channels(x.size() - 1, 1);
  channels[0] = w[0];
  TW_TRY(const int bias, s.reshaped(s.input(2), channels, ".bias"));
  return Outcome(Draft{"add", {image, bias}, {}});
}

/// Channels that each give several results, as often beside each other: then each gives one. The schedules of depthwise convolutions for processors want
/// vectors of channels that lie as the results do.
Expected<Outcome> several_results_of_each_channel(Site& s) {
  if (s.target().gpu || !s.constant(s.input(1))) return nothing();
  const Dims x = s.type(s.input(0)).shape, w = s.type(s.input(1)).shape;
  const int64_t channels = x[1];
  if (channels == 1 || s.draft().attrs.integer("groups", 1) != channels || w[0] == channels) return nothing();
  Dims apart = x, repeated = x;
  apart.insert(apart.begin() + 2, 1);
  repeated.insert(repeated.begin() + 2, w[0] / channels);
  Dims joined = x;
  joined[1] = w[0];
  TW_TRY(const int single, s.reshaped(s.input(0), apart, ".apart"));
  TW_TRY(const int several, s.add_node({"broadcast_to", {single}, Attrs{{{"shape", repeated}}}}, ".repeated"));
  TW_TRY(const int data, s.reshaped(several, joined, ".channels"));
  Draft each = s.draft();
  each.inputs[0] = data;
  each.attrs.values["groups"] = w[0];
  return Outcome(each);
}

/// Terms of each result from which writing the results of a convolution between each other is a small part of the work.
constexpr double kLongSum = 256;
/// Multiplications over those that meet a tap and an element, at most: windows are filled up to whole strides, and the results at the image's borders cut off.
constexpr double kMostWaste = 1.6;
/// How much fuller vectors of so many more results must be, where the work is a short sum.
constexpr double kFuller = 1.2;

/// A transposed convolution as a convolution with as many results for each channel as a stride has places, which are put between each other: along one
/// dimension, place q * s + p of the result, counted before the image's padding is cut off, is the sum over t of x[q - t] * weight[p + t * s]; without a stride, of
/// windows that leave elements out, the sum over t of x[q - t * dilation] * weight[t].
struct Interleaved {
  Dims taps, places, before, after, first;  ///< per dimension: of the convolution its window, results and padding; the first result that is kept
  double waste = 1;
};

/// Nothing where both a stride and a dilation leave elements out.
std::optional<Interleaved> interleaved(const Dims& x, const Dims& w, const Dims& y, const Dims& strides, const Dims& dilations, const Dims& pads) {
  Interleaved i;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] > 1 && dilations[d] > 1 && w[d + 2] > 1) return std::nullopt;
    const int64_t s = strides[d], taps = (w[d + 2] + s - 1) / s, places = (pads[d] % s + y[d + 2] + s - 1) / s;
    const int64_t reach = (taps - 1) * (s == 1 ? dilations[d] : 1), before = reach - pads[d] / s, after = places + reach - x[d + 2] - before;
    if (before < 0 || after < 0) return std::nullopt;
    i.taps.push_back(taps);
    i.places.push_back(places);
    i.before.push_back(before);
    i.after.push_back(after);
    i.first.push_back(pads[d] % s);
    i.waste *= static_cast<double>(places * s * taps * s) / static_cast<double>(y[d + 2] * w[d + 2]);
  }
  return i;
}

/// Whether schedules of convolutions, which know groups and Winograd's algorithm, serve it better than those of transposed ones: these have vectors along the
/// channels of the result and read the weights of a whole stride for each tile. Measured on a Xeon over strides of 1 to 16 along lines and in images.
bool better_interleaved(const Interleaved& i, const Dims& x, const Dims& w, int64_t channels, int64_t groups, const Dims& strides, const Target& target) {
  const int64_t lanes = target.lanes(kFloat32);
  const bool one_pixel = all_are(Dims(x.begin() + 2, x.end()), 1);  // of which each result meets one tap
  if (groups > 1 || one_pixel) return groups > 1;
  if (all_are(strides, 1) || 2 * channels <= lanes) return true;
  const auto used = [&](int64_t n) { return static_cast<double>(n) / static_cast<double>((n + lanes - 1) / lanes * lanes); };
  if (used(channels * product(strides)) > kFuller * i.waste * used(channels)) return true;
  double terms = static_cast<double>(w[0]);
  for (size_t d = 0; d < strides.size(); ++d) terms *= static_cast<double>(w[d + 2]) / static_cast<double>(strides[d]);
  const bool wide = 4 * strides.back() >= target.vector_registers;
  return lanes % strides.back() == 0 && i.waste <= kMostWaste && (wide || terms >= kLongSum);
}

Expected<Outcome> transposed_convolution(Site& s) {
  const HostArray* weight = s.constant(s.input(1));
  const bool biased = s.draft().inputs.size() > 2 && s.input(2) >= 0;
  if (s.target().gpu || !weight || (biased && !s.constant(s.input(2)))) return nothing();
  const Dims x = s.type(s.input(0)).shape, w = weight->shape, y = s.result().shape;
  const size_t spatial = x.size() - 2;
  const Attrs a = s.draft().attrs;
  const int64_t groups = a.integer("groups", 1), in = x[1] / groups, out = w[1];
  const bool by_channel = groups > 1 && in == 1 && out == 1;
  const Dims strides = a.integers("strides", Dims(spatial, 1)), dilations = a.integers("dilations", Dims(spatial, 1));
  if (by_channel || product(x) == 0 || product(y) == 0) return nothing();
  const auto i = interleaved(x, w, y, strides, dilations, a.integers("pads", Dims(2 * spatial, 0)));
  if (!i || !better_interleaved(*i, x, w, y[1], groups, strides, s.target())) return nothing();

  const int64_t each = product(strides);
  Dims kernel{y[1] * each, in}, apart{x[0], y[1]}, between{0, 1}, together{x[0], y[1]}, starts{0, 0}, padding = i->before, steps;
  kernel.insert(kernel.end(), i->taps.begin(), i->taps.end());
  padding.insert(padding.end(), i->after.begin(), i->after.end());
  apart.insert(apart.end(), strides.begin(), strides.end());
  apart.insert(apart.end(), i->places.begin(), i->places.end());
  starts.insert(starts.end(), i->first.begin(), i->first.end());
  for (size_t d = 0; d < spatial; ++d) {
    between.insert(between.end(), {static_cast<int64_t>(2 + spatial + d), static_cast<int64_t>(2 + d)});
    together.push_back(i->places[d] * strides[d]);
    steps.push_back(strides[d] == 1 ? dilations[d] : 1);
  }
  HostArray turned = HostArray::make(weight->dtype, kernel);
  Dims at(kernel.size());
  for (int64_t k = 0; k < turned.num_elements(); ++k) {
    int64_t left = k;
    for (size_t d = kernel.size(); d-- > 0; left /= kernel[d]) at[d] = left % kernel[d];
    const int64_t channel = at[0] / each;
    int64_t from = (channel / out * in + at[1]) * out + channel % out, phase = at[0] % each, width = each;
    bool exists = true;
    for (size_t d = 0; d < spatial; ++d) {
      width /= strides[d];
      const int64_t tap = phase / width % strides[d] + (i->taps[d] - 1 - at[d + 2]) * strides[d];
      exists = exists && tap < w[d + 2];
      from = from * w[d + 2] + tap;
    }
    if (exists) turned.set(k, weight->get(from));
  }
  Draft conv{s.draft().op.substr(0, s.draft().op.find('_')), {s.input(0), s.add_constant(std::move(turned))}, Attrs{{{"groups", groups}, {"pads", padding}, {"dilations", steps}}}};
  if (biased) {
    const HostArray* bias = s.constant(s.input(2));
    HostArray repeated = HostArray::make(bias->dtype, {kernel[0]});
    for (int64_t k = 0; k < kernel[0]; ++k) repeated.set(k, bias->get(k / each));
    conv.inputs.push_back(s.add_constant(std::move(repeated)));
  }
  if (each == 1) return Outcome(conv);
  TW_TRY(const int results, s.add_node(conv, ".convolution"));
  TW_TRY(const int parts, s.reshaped(results, apart, ".apart"));
  TW_TRY(const int beside, s.add_node({"transpose", {parts}, Attrs{{{"perm", between}}}}, ".beside"));
  TW_TRY(const int whole, s.reshaped(beside, together, ".together"));
  return Outcome(Draft{"slice", {whole}, Attrs{{{"starts", starts}, {"sizes", y}, {"steps", Dims(y.size(), 1)}}}});
}

/// Whether most elements that a transposed convolution reaches by its own definition are zeros between the input's: with strides and windows that have gaps.
bool reaches_zeros(const Dims& kernel, const Dims& strides, const Dims& dilations) {
  for (size_t d = 0; d < strides.size(); ++d)
    if (strides[d] > 1 && dilations[d] > 1 && kernel[d] > 1) return true;
  return false;
}

/// Channels from which a product of matrices is worth its columns; of one channel they are computed where they are added up.
constexpr int64_t kFewestSummed = 4;

/// What each element of the input adds to its window, a product of matrices, summed up where windows overlap.
Expected<Outcome> transposed_convolution_by_columns(Site& s) {
  const HostArray* weight = s.constant(s.input(1));
  if (s.target().gpu || !weight || !weight->dtype.is_float()) return nothing();
  const Dims x = s.type(s.input(0)).shape, w = weight->shape, y = s.result().shape;
  const size_t spatial = x.size() - 2;
  const Attrs a = s.draft().attrs;
  const int64_t groups = a.integer("groups", 1), in = x[1] / groups, out = w[1];
  const Dims ones(spatial, 1), kernel(w.begin() + 2, w.end()), image(y.begin() + 2, y.end()), strides = a.integers("strides", ones),
                                                                                              dilations = a.integers("dilations", ones);
  if (!reaches_zeros(kernel, strides, dilations) || (in > 1 && in < kFewestSummed) || product(x) == 0 || product(y) == 0) return nothing();
  Dims pads = a.integers("pads", Dims(2 * spatial, 0));
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t reach = (kernel[d] - 1) * dilations[d] + 1, span = (x[d + 2] - 1) * strides[d] + reach;
    pads[spatial + d] = std::max<int64_t>(0, span - image[d] - pads[d]);
    // Output padding may leave room for more windows than there are elements.
    if ((image[d] + pads[d] + pads[spatial + d] - reach) / strides[d] + 1 != x[d + 2]) return nothing();
  }
  const int64_t window = product(kernel), windows = product(Dims(x.begin() + 2, x.end()));

  // [groups, out * window, in]
  HostArray turned = HostArray::make(weight->dtype, {groups, out * window, in});
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t c = 0; c < in; ++c)
      for (int64_t k = 0; k < out * window; ++k) turned.set((g * out * window + k) * in + c, weight->get((g * in + c) * out * window + k));
  TW_TRY(const int rows, s.reshaped(s.input(0), {x[0], groups, in, windows}, ".rows"));
  TW_TRY(const int products, s.add_node({in == 1 ? "mul" : "matmul", {s.add_constant(std::move(turned)), rows}}, ".products"));
  TW_TRY(const int columns, s.reshaped(products, {x[0], y[1] * window, windows}, ".columns"));
  const Draft sum{"columns_to_image", {columns}, Attrs{{{"image", image}, {"kernel", kernel}, {"strides", strides}, {"dilations", dilations}, {"pads", pads}}}};
  if (s.draft().inputs.size() < 3 || s.input(2) < 0) return Outcome(sum);
  Dims along(y.size(), 1);
  along[1] = y[1];
  TW_TRY(const int whole, s.add_node(sum, ".image"));
  TW_TRY(const int bias, s.reshaped(s.input(2), along, ".bias"));
  return Outcome(Draft{"add", {whole, bias}});
}

}  // namespace

std::span<const Rule> convolutions() {
  static const std::array kRules = {
      Rule{"conv1d conv2d conv3d", convolution_of_computed_weights,
           "On processors, a convolution of single pixels whose weights are computed is a product of matrices"},
      Rule{"conv1d conv2d conv3d", several_results_of_each_channel,
           "On processors, a depthwise convolution with several results of each channel repeats the channels"},
      Rule{"conv1d_transpose conv2d_transpose conv3d_transpose", transposed_convolution_by_columns,
           "On processors, a transposed convolution with strides and dilated windows is a product of matrices, whose columns are added up as an image"},
      Rule{"conv1d_transpose conv2d_transpose conv3d_transpose", transposed_convolution,
           "On processors, a transposed convolution in groups, to few channels, of a wide stride or of long sums is a convolution whose results are put "
           "between each other"},
  };
  return kRules;
}

}  // namespace tw::graph::rules
