// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/fold_scale_axis.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/graph/rewrite.h"

namespace tw::graph {

namespace {

using Factors = std::vector<double>;

/// Edits a copy of the graph in place; the removed multiplications are dropped at the end.
struct Editor {
  Graph g;
  std::vector<bool> removed;

  const HostArray* constant(int v) const { return v < 0 ? nullptr : g.values[static_cast<size_t>(v)].constant.get(); }
  const TensorType& type(int v) const { return g.values[static_cast<size_t>(v)].type; }
  /// The only node that reads `v`, or -1 if there are others or the graph's caller reads it.
  int only_consumer(int v) const {
    int found = -1;
    for (size_t n = 0; n < g.nodes.size(); ++n) {
      if (removed[n]) continue;
      for (const int i : g.nodes[n].inputs) {
        if (i != v) continue;
        if (found >= 0) return -1;
        found = static_cast<int>(n);
      }
    }
    return std::find(g.outputs.begin(), g.outputs.end(), v) == g.outputs.end() ? found : -1;
  }
  /// Replaces operand `slot` of a node by its own scaled copy.
  void set_constant(Node& n, size_t slot, HostArray array) {
    int& input = n.inputs[slot];
    std::string name = g.values[static_cast<size_t>(input)].name;
    const int v = static_cast<int>(g.values.size());
    while (find_value(g, name) >= 0) name += ".scaled";
    const TensorType t{array.dtype, array.shape};
    g.values.push_back({.name = name, .type = t, .constant = std::make_shared<const HostArray>(std::move(array))});
    input = v;
  }
};

bool is_transposed(const Node& n) { return n.op == "conv1d_transpose" || n.op == "conv2d_transpose" || n.op == "conv3d_transpose"; }
bool is_layer(const Node& n) { return n.op == "dense" || n.op == "conv1d" || n.op == "conv2d" || n.op == "conv3d" || is_transposed(n); }

/// `array`, an operand of an elementwise operation whose result has `shape`, as one factor per element of dimension 1; nothing if it varies elsewhere.
std::optional<Factors> per_channel(const HostArray* array, const std::vector<int64_t>& shape) {
  if (!array || !array->dtype.is_float() || shape.size() < 2 || array->shape.size() > shape.size()) return {};
  const size_t lead = shape.size() - array->shape.size();
  for (size_t d = 0; d < array->shape.size(); ++d)
    if (array->shape[d] != 1 && (lead + d != 1 || array->shape[d] != shape[1])) return {};
  Factors f(static_cast<size_t>(shape[1]));
  for (size_t c = 0; c < f.size(); ++c) f[c] = array->get(array->num_elements() == 1 ? 0 : static_cast<int64_t>(c));
  return f;
}

/// One value per channel in the shape that broadcasts along dimension 1 of a rank-`rank` tensor.
HostArray channel_array(DType t, const Factors& values, size_t rank) {
  std::vector<int64_t> shape(rank - 1, 1);
  shape[0] = static_cast<int64_t>(values.size());
  HostArray a = HostArray::make(t, shape);
  for (size_t c = 0; c < values.size(); ++c) a.set(static_cast<int64_t>(c), values[c]);
  return a;
}

/// The channels of a layer's operand, or those of its result.
enum class Side { operand, result };

/// Weights of a layer with its channels of one side scaled. Weights are [A, B / groups, ...]: A are the channels of the result and B those of the operand,
/// the other way round for transposed convolutions; group k joins the k-th part of A with the k-th part of B.
HostArray scaled_weights(const Node& layer, const HostArray& w, const Factors& factor, Side side) {
  int64_t inner = 1;
  for (size_t d = 2; d < w.shape.size(); ++d) inner *= w.shape[d];
  const bool first = (side == Side::result) != is_transposed(layer);
  const int64_t per_group = w.shape[0] / layer.attrs.integer("groups", 1);
  HostArray out = w;
  for (int64_t i = 0; i < w.num_elements(); ++i) {
    const int64_t a = i / inner / w.shape[1], b = i / inner % w.shape[1];
    out.set(i, w.get(i) * factor[static_cast<size_t>(first ? a : a / per_group * w.shape[1] + b)]);
  }
  return out;
}

bool all_positive(const Factors& f) {
  return std::all_of(f.begin(), f.end(), [](double v) { return v > 0; });
}

/// The operand of a mul node that is a factor per channel, with the other operand.
struct Scale {
  int data = -1;
  Factors factor;
};
std::optional<Scale> scale_of(const Editor& e, const Node& n) {
  if (n.op != "mul") return {};
  const std::vector<int64_t>& shape = e.type(n.outputs[0]).shape;
  for (const size_t slot : {size_t{1}, size_t{0}}) {
    const int data = n.inputs[1 - slot];
    if (e.constant(data) || e.type(data).shape != shape) continue;
    if (auto f = per_channel(e.constant(n.inputs[slot]), shape)) return Scale{data, std::move(*f)};
  }
  return {};
}

/// Slot of the per-channel constant of an add or sub that leaves the other operand's shape alone; -1 if the node is not one.
int offset_slot(const Editor& e, const Node& n) {
  if (n.op != "add" && n.op != "sub") return -1;
  const std::vector<int64_t>& shape = e.type(n.outputs[0]).shape;
  for (const int slot : {1, 0}) {
    const int data = n.inputs[static_cast<size_t>(1 - slot)];
    if (!e.constant(data) && e.type(data).shape == shape && per_channel(e.constant(n.inputs[static_cast<size_t>(slot)]), shape)) return slot;
  }
  return -1;
}

void scale_offset(Editor& e, Node& n, const Factors& factor, bool divide) {
  const size_t slot = static_cast<size_t>(offset_slot(e, n));
  const TensorType& out = e.type(n.outputs[0]);
  Factors values = *per_channel(e.constant(n.inputs[slot]), out.shape);
  for (size_t c = 0; c < values.size(); ++c) values[c] = divide ? values[c] / factor[c] : values[c] * factor[c];
  e.set_constant(n, slot, channel_array(out.dtype, values, out.shape.size()));
}

/// Walks up from `value` to the layer that made it. All values on the way must have one reader. Returns the nodes, the layer last; empty if the way is blocked.
std::vector<int> path_to_producer(const Editor& e, int value, bool positive) {
  std::vector<int> path;
  for (int v = value;;) {
    const int n = e.g.values[static_cast<size_t>(v)].producer;
    if (n < 0 || e.only_consumer(v) < 0) return {};
    const Node& node = e.g.nodes[static_cast<size_t>(n)];
    path.push_back(n);
    if (is_layer(node)) {
      const bool constants = e.constant(node.inputs[1]) && (node.inputs.size() < 3 || node.inputs[2] < 0 || e.constant(node.inputs[2]));
      return constants ? path : std::vector<int>{};
    }
    if (const int slot = offset_slot(e, node); slot >= 0) {
      if (node.op == "sub" && slot == 0) return {};
      v = node.inputs[static_cast<size_t>(1 - slot)];
    } else if ((node.op == "relu" || node.op == "leaky_relu") && positive) {
      v = node.inputs[0];
    } else {
      return {};
    }
  }
}

bool fold_backward(Editor& e, const Scale& s) {
  const std::vector<int> path = path_to_producer(e, s.data, all_positive(s.factor));
  if (path.empty()) return false;
  for (const int n : path) {
    Node& node = e.g.nodes[static_cast<size_t>(n)];
    if (offset_slot(e, node) >= 0) scale_offset(e, node, s.factor, false);
  }
  Node& layer = e.g.nodes[static_cast<size_t>(path.back())];
  e.set_constant(layer, 1, scaled_weights(layer, *e.constant(layer.inputs[1]), s.factor, Side::result));
  if (layer.inputs.size() > 2 && layer.inputs[2] >= 0) {
    HostArray bias = *e.constant(layer.inputs[2]);
    for (int64_t c = 0; c < bias.num_elements(); ++c) bias.set(c, bias.get(c) * s.factor[static_cast<size_t>(c)]);
    e.set_constant(layer, 2, std::move(bias));
  }
  return true;
}

bool fold_forward(Editor& e, const Node& mul, const Scale& s) {
  const double largest = std::abs(*std::max_element(s.factor.begin(), s.factor.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  const bool divisible = std::all_of(s.factor.begin(), s.factor.end(), [&](double v) { return std::abs(v) > 1e-6 * largest; });
  std::vector<int> offsets;
  for (int v = mul.outputs[0];;) {
    const int n = e.only_consumer(v);
    if (n < 0) return false;
    Node& node = e.g.nodes[static_cast<size_t>(n)];
    if (is_layer(node)) {
      if (node.inputs[0] != v || !e.constant(node.inputs[1])) return false;
      for (const int o : offsets) scale_offset(e, e.g.nodes[static_cast<size_t>(o)], s.factor, true);
      e.set_constant(node, 1, scaled_weights(node, *e.constant(node.inputs[1]), s.factor, Side::operand));
      return true;
    }
    const int slot = offset_slot(e, node);
    if (slot >= 0 && divisible && !(node.op == "sub" && slot == 0))
      offsets.push_back(n);
    else if (!(node.op == "relu" || node.op == "leaky_relu") || !all_positive(s.factor))
      return false;
    v = node.outputs[0];
  }
}

/// Lets the multiplication's operand stand for its result.
void remove(Editor& e, int index, int data) {
  const int result = e.g.nodes[static_cast<size_t>(index)].outputs[0];
  e.removed[static_cast<size_t>(index)] = true;
  for (Node& n : e.g.nodes) std::replace(n.inputs.begin(), n.inputs.end(), result, data);
  if (std::find(e.g.outputs.begin(), e.g.outputs.end(), result) == e.g.outputs.end()) return;
  std::replace(e.g.outputs.begin(), e.g.outputs.end(), result, data);
  std::swap(e.g.values[static_cast<size_t>(result)].name, e.g.values[static_cast<size_t>(data)].name);
}

}  // namespace

Expected<Graph> fold_scale_axis(const Graph& g, const Target&) {
  Editor e{g, std::vector<bool>(g.nodes.size(), false)};
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const Node mul = e.g.nodes[i];
    const auto scale = scale_of(e, mul);
    if (scale && (fold_backward(e, *scale) || fold_forward(e, mul, *scale))) remove(e, static_cast<int>(i), scale->data);
  }
  Rewriter rewrite(e.g);
  for (size_t i = 0; i < e.g.nodes.size(); ++i)
    if (!e.removed[i]) TW_CHECK(rewrite.copy(e.g.nodes[i]));
  return std::move(rewrite).finish();
}

}  // namespace tw::graph
