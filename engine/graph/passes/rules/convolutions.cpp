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

}  // namespace

std::span<const Rule> convolutions() {
  static const std::array kRules = {
      Rule{"conv1d conv2d conv3d", convolution_of_computed_weights,
           "On processors, a convolution of single pixels whose weights are computed is a product of matrices"},
      Rule{"conv1d conv2d conv3d", several_results_of_each_channel,
           "On processors, a depthwise convolution with several results of each channel repeats the channels"},
  };
  return kRules;
}

}  // namespace tw::graph::rules
