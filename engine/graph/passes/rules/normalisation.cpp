// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "engine/graph/passes/rules/rule.h"

namespace tw::graph::rules {

namespace {

using Dims = std::vector<int64_t>;

/// sqrt(mean(x^2) + epsilon), the mean over all dimensions from `axis` on.
struct Root {
  int x = -1;
  int64_t axis = 0;
  double epsilon = 0;
};

/// The first of the last dimensions that a node averages over, keeping them with extent 1; nothing if it averages over others.
std::optional<int64_t> mean_from(const Site& s, const Node& mean) {
  const auto rank = static_cast<int64_t>(s.type(mean.inputs[0]).shape.size());
  Dims axes = mean.attrs.integers("axes", {});
  if (axes.empty() || mean.attrs.integer("keepdims", 1) == 0) return {};
  for (int64_t& a : axes) a += a < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  for (size_t k = 0; k < axes.size(); ++k)
    if (axes[k] != rank - static_cast<int64_t>(axes.size() - k)) return {};
  return axes.front();
}

std::optional<Root> root_of_mean_square(const Site& s, int v) {
  const Node* root = s.made_by(v, "sqrt");
  const Node* sum = root ? s.made_by(root->inputs[0], "add") : nullptr;
  if (!sum) return {};
  const size_t slot = s.constant(sum->inputs[1]) ? 1 : 0;
  const HostArray* c = s.constant(sum->inputs[slot]);
  const double epsilon = c ? uniform(*c).value_or(-1) : -1;
  const Node* mean = s.made_by(sum->inputs[1 - slot], "reduce_mean");
  if (epsilon < 0 || !mean || s.type(v) != s.type(sum->inputs[1 - slot])) return {};
  const auto axis = mean_from(s, *mean);
  if (!axis) return {};
  if (const Node* square = s.made_by(mean->inputs[0], "square")) return Root{square->inputs[0], *axis, epsilon};
  if (const Node* product = s.made_by(mean->inputs[0], "mul"); product && product->inputs[0] == product->inputs[1])
    return Root{product->inputs[0], *axis, epsilon};
  return {};
}

/// x / root and x * (1 / root): an rms_norm; a layer_norm where x is a difference to its mean. The scale is one so far.
Expected<Outcome> norm(Site& s) {
  std::optional<Root> root;
  int x = s.input(0);
  if (s.draft().op == "div") {
    root = root_of_mean_square(s, s.input(1));
  } else {
    for (const size_t slot : {size_t{0}, size_t{1}})
      if (const Node* inverse = root ? nullptr : s.made_by(s.input(slot), "reciprocal")) {
        root = root_of_mean_square(s, inverse->inputs[0]);
        x = s.input(1 - slot);
      }
  }
  if (!root || root->x != x || s.type(x) != s.result()) return nothing();
  Attrs attrs{{{"axis", root->axis}, {"epsilon", root->epsilon}}};
  const int scale = s.add_constant(full(s.result().dtype, 1));
  const Node* difference = s.made_by(x, "sub");
  const Node* mean = difference ? s.made_by(difference->inputs[1], "reduce_mean") : nullptr;
  if (mean && mean->inputs[0] == difference->inputs[0] && mean_from(s, *mean) == root->axis && s.type(difference->inputs[0]) == s.result())
    return Outcome(Draft{"layer_norm", {difference->inputs[0], scale}, std::move(attrs)});
  return Outcome(Draft{"rms_norm", {x, scale}, std::move(attrs)});
}

/// The constant without leading dimensions of 1, if it broadcasts to the dimensions of `x` from `axis` on.
std::optional<HostArray> along_row(HostArray c, const Dims& x, int64_t axis) {
  const size_t rank = x.size() - static_cast<size_t>(axis);
  while (c.shape.size() > rank && c.shape.front() == 1) c.shape.erase(c.shape.begin());
  if (c.shape.size() > rank) return {};
  for (size_t d = 0; d < c.shape.size(); ++d)
    if (c.shape[d] != 1 && c.shape[d] != x[x.size() - c.shape.size() + d]) return {};
  return c;
}

/// A normalisation times a constant, or plus one: its own scale and bias take it in.
Expected<Outcome> scale_or_bias(Site& s) {
  const std::string& op = s.draft().op;
  for (const size_t slot : {size_t{0}, size_t{1}}) {
    const HostArray* c = s.constant(s.input(1 - slot));
    const Node* n = c ? s.made_by(s.input(slot), "layer_norm") : nullptr;
    if (c && !n && op == "mul") n = s.made_by(s.input(slot), "rms_norm");
    if (!n || s.type(s.input(slot)) != s.result()) continue;
    const Dims& shape = s.result().shape;
    int64_t axis = n->attrs.integer("axis", -1);
    axis += axis < 0 ? static_cast<int64_t>(shape.size()) : 0;
    const auto row = along_row(*c, shape, axis);
    if (!row) continue;
    std::vector<int> inputs = n->inputs;
    const bool biased = inputs.size() > 2 && inputs[2] >= 0;
    // What takes the constant in must be constant itself.
    if (op == "mul" ? !s.constant(inputs[1]) || (biased && !s.constant(inputs[2])) : biased && !s.constant(inputs[2])) continue;
    for (const size_t k : op == "mul" ? std::vector<size_t>{1, 2} : std::vector<size_t>{2}) {
      if (k == 2 && !biased) {
        if (op == "add") {
          inputs.resize(3);
          inputs[2] = s.add_constant(*row);
        }
        continue;
      }
      TW_TRY(HostArray folded, fold(op, {*s.constant(inputs[k]), *row}));
      inputs[k] = s.add_constant(std::move(folded));
    }
    return Outcome(Draft{n->op, std::move(inputs), n->attrs});
  }
  return nothing();
}

/// A constant of `x`'s channels, [C] of [N, C, spatial...] with every value `times` times.
HostArray by_channel(const HostArray& c, int64_t channels, int64_t times) {
  HostArray out = HostArray::make(c.dtype, {channels});
  for (int64_t i = 0; i < channels; ++i) out.set(i, c.get(c.num_elements() == 1 ? 0 : i / times));
  return out;
}

/// Channels of images that are normalised as a few longer ones, as where there was no operator for groups: the operator has groups. On GPUs the longer ones stay:
/// reshapes are free there, and threads share out one long row better than channels and pixels.
Expected<Outcome> group_norm(Site& s) {
  if (s.target().gpu) return nothing();
  const Node* n = s.made_by(s.input(0), "instance_norm");
  const Node* before = n ? s.made_by(n->inputs[0], "reshape") : nullptr;
  if (!before || s.type(before->inputs[0]) != s.result()) return nothing();
  const Dims &image = s.result().shape, &joined = s.type(n->inputs[0]).shape;
  const int64_t groups = joined[1];
  if (image.size() < 3 || image[0] != joined[0] || groups < 1 || image[1] % groups != 0 || n->attrs.integer("groups", groups) != groups) return nothing();
  const HostArray *scale = s.constant(n->inputs[1]), *bias = s.constant(n->inputs[2]);
  if (!scale || !bias) return nothing();
  const int64_t channels = image[1], times = channels / groups;
  const int wide = s.add_constant(by_channel(*scale, channels, times)), moved = s.add_constant(by_channel(*bias, channels, times));
  return Outcome(Draft{"instance_norm", {before->inputs[0], wide, moved}, Attrs{{{"epsilon", n->attrs.real("epsilon", 1e-5)}, {"groups", groups}}}});
}

/// Norms over groups of channels on processors: see ops::instance_norm.
Expected<Outcome> sums_by_channel(Site& s) {
  const Attrs& attrs = s.draft().attrs;
  const int64_t channels = s.result().shape[1];
  if (s.target().gpu || attrs.integer("groups", channels) == channels || attrs.integer("by_channel", 0) != 0) return nothing();
  Draft by_channel = s.draft();
  by_channel.attrs.values["by_channel"] = int64_t{1};
  return Outcome(std::move(by_channel));
}

/// An instance_norm times or plus a constant of each channel.
Expected<Outcome> scale_or_bias_of_channels(Site& s) {
  for (const size_t slot : {size_t{0}, size_t{1}}) {
    const HostArray* c = s.constant(s.input(1 - slot));
    const Node* n = c ? s.made_by(s.input(slot), "instance_norm") : nullptr;
    if (!n || s.type(s.input(slot)) != s.result() || !s.constant(n->inputs[1]) || !s.constant(n->inputs[2])) continue;
    const Dims& image = s.result().shape;
    Dims shape = c->shape;
    while (!shape.empty() && shape.front() == 1) shape.erase(shape.begin());
    Dims channels(image.size() - 1, 1);
    channels.front() = image[1];
    if (!shape.empty() && shape != channels) continue;
    const HostArray factor = by_channel(*c, image[1], 1);
    std::vector<int> inputs = n->inputs;
    for (const size_t k : s.draft().op == "mul" ? std::vector<size_t>{1, 2} : std::vector<size_t>{2}) {
      TW_TRY(HostArray folded, fold(s.draft().op, {*s.constant(inputs[k]), factor}));
      inputs[k] = s.add_constant(std::move(folded));
    }
    return Outcome(Draft{n->op, std::move(inputs), n->attrs});
  }
  return nothing();
}

}  // namespace

std::span<const Rule> normalisation() {
  static const std::array kRules = {
      Rule{"div mul", norm, "x / sqrt(mean(x^2) + e) is an rms_norm, or a layer_norm where x is a difference to its mean"},
      Rule{"mul add", scale_or_bias, "A constant factor or offset of a normalisation joins its own"},
      Rule{"mul add", scale_or_bias_of_channels, "A constant factor or offset of each channel of an instance_norm joins its own"},
      Rule{"instance_norm", sums_by_channel, "On processors, norms of groups add up each channel by itself first: images lie in blocks of channels, whose borders are not those of groups"},
      Rule{"reshape", group_norm, "An instance_norm of channels that are joined before and taken apart afterwards is one of groups"},
  };
  return kRules;
}

}  // namespace tw::graph::rules
