// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

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

/// A transposed convolution in groups is a convolution in groups with as many results for each channel as a stride has places, which are put between each
/// other: schedules of convolutions know groups. Along one dimension, place q * s + p of the result is the sum over t of x[q - t] * weight[p + t * s].
Expected<Outcome> transposed_convolution_in_groups(Site& s) {
  const HostArray* weight = s.constant(s.input(1));
  const bool biased = s.draft().inputs.size() > 2 && s.input(2) >= 0;
  if (s.target().gpu || !weight || (biased && !s.constant(s.input(2)))) return nothing();
  const Dims x = s.type(s.input(0)).shape, w = weight->shape, y = s.result().shape;
  const size_t spatial = x.size() - 2;
  const Attrs a = s.draft().attrs;
  const int64_t groups = a.integer("groups", 1), in = x[1] / groups, out = w[1];
  const bool by_channel = in == 1 && out == 1;
  const Dims strides = a.integers("strides", Dims(spatial, 1)), pads = a.integers("pads", Dims(2 * spatial, 0));
  if (groups == 1 || by_channel || !all_are(a.integers("dilations", Dims(spatial, 1)), 1) || product(x) == 0 || product(y) == 0) return nothing();
  Dims kernel{y[1] * product(strides), in}, padding(2 * spatial), apart{x[0], y[1]}, between{0, 1}, together{x[0], y[1]}, starts{0, 0};
  apart.insert(apart.end(), strides.begin(), strides.end());
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t taps = (w[d + 2] + strides[d] - 1) / strides[d], places = x[d + 2] + taps - 1;
    if (pads[d] + y[d + 2] > places * strides[d]) return nothing();
    kernel.push_back(taps);
    padding[d] = padding[d + spatial] = taps - 1;
    apart.push_back(places);
    between.insert(between.end(), {static_cast<int64_t>(2 + spatial + d), static_cast<int64_t>(2 + d)});
    together.push_back(places * strides[d]);
    starts.push_back(pads[d]);
  }
  HostArray turned = HostArray::make(weight->dtype, kernel);
  Dims at(kernel.size());
  for (int64_t i = 0; i < turned.num_elements(); ++i) {
    int64_t left = i;
    for (size_t d = kernel.size(); d-- > 0; left /= kernel[d]) at[d] = left % kernel[d];
    int64_t from = at[0] / product(strides) / out * in + at[1], phase = at[0] % product(strides);  // the data's channel
    from = from * out + at[0] / product(strides) % out;
    bool exists = true;
    for (size_t d = 0; d < spatial; ++d) {
      const int64_t within = phase / product(Dims(strides.begin() + static_cast<std::ptrdiff_t>(d) + 1, strides.end())) % strides[d];
      const int64_t tap = within + (kernel[d + 2] - 1 - at[d + 2]) * strides[d];
      exists = exists && tap < w[d + 2];
      from = from * w[d + 2] + tap;
    }
    if (exists) turned.set(i, weight->get(from));
  }
  Draft conv{s.draft().op.substr(0, s.draft().op.find('_')), {s.input(0), s.add_constant(std::move(turned))}, {}};
  if (biased) {
    const HostArray* bias = s.constant(s.input(2));
    HostArray repeated = HostArray::make(bias->dtype, {kernel[0]});
    for (int64_t i = 0; i < kernel[0]; ++i) repeated.set(i, bias->get(i / product(strides)));
    conv.inputs.push_back(s.add_constant(std::move(repeated)));
  }
  conv.attrs = Attrs{{{"groups", groups}, {"pads", padding}}};
  TW_TRY(const int results, s.add_node(conv, ".convolution"));
  TW_TRY(const int parts, s.reshaped(results, apart, ".apart"));
  TW_TRY(const int interleaved, s.add_node({"transpose", {parts}, Attrs{{{"perm", between}}}}, ".interleaved"));
  TW_TRY(const int whole, s.reshaped(interleaved, together, ".together"));
  return Outcome(Draft{"slice", {whole}, Attrs{{{"starts", starts}, {"sizes", y}, {"steps", Dims(y.size(), 1)}}}});
}

}  // namespace

std::span<const Rule> convolutions() {
  static const std::array kRules = {
      Rule{"conv1d conv2d conv3d", convolution_of_computed_weights,
           "On processors, a convolution of single pixels whose weights are computed is a product of matrices"},
      Rule{"conv1d conv2d conv3d", several_results_of_each_channel,
           "On processors, a depthwise convolution with several results of each channel repeats the channels"},
      Rule{"conv1d_transpose conv2d_transpose conv3d_transpose", transposed_convolution_in_groups,
           "On processors, a transposed convolution in groups is a convolution in groups whose results are put between each other"},
  };
  return kRules;
}

}  // namespace tw::graph::rules
