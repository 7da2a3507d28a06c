// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/channels_last.h"

#include <algorithm>

#include "engine/graph/passes/constants.h"
#include "engine/graph/passes/simplify_expressions.h"
#include "engine/graph/passes/sink_transposes.h"
#include "engine/graph/rewrite.h"

namespace tw::graph {

namespace {

using Dims = std::vector<int64_t>;

bool is_pool(const Node& n) { return n.op == "max_pool2d" || n.op == "avg_pool2d"; }
/// Of one group, or of one group a channel.
bool is_plain_conv(const Graph& g, const Node& n) {
  const int64_t groups = n.attrs.integer("groups", 1);
  return n.op == "conv2d" && (groups == 1 || groups == g.values[static_cast<size_t>(n.inputs[0])].type.shape[1]);
}

class ChannelTurner {
 public:
  explicit ChannelTurner(const Graph& g) : g_(g), rewrite_(g) {}

  Expected<Graph> run() {
    return std::move(rewrite_).run([this](const Node& n) { return rewrite(n); }, [](int) -> Expected<void> { return {}; });
  }

 private:
  const Value& value(int v) const { return g_.values[static_cast<size_t>(v)]; }

  Expected<int> add(const std::string& op, std::vector<int> inputs, Attrs attrs, const std::string& name) {
    TW_TRY(const std::vector<int> out, rewrite_.builder().node(op, std::move(inputs), std::move(attrs), name));
    return out[0];
  }

  /// An old value with its dimensions in the order of `perm`.
  Expected<int> turned(int v, const Dims& shape, const Dims& perm) {
    if (const auto& constant = value(v).constant) {
      HostArray a = *constant;
      a.shape = shape;
      return rewrite_.builder().constant(value(v).name, transposed(a, perm));
    }
    int from = rewrite_.value(v);
    if (shape != value(v).type.shape) {
      TW_TRY(from, add("reshape", {from}, Attrs{{{"shape", shape}}}, value(v).name + ".split"));
    }
    return add("transpose", {from}, Attrs{{{"perm", perm}}}, value(v).name + ".turned");
  }

  Expected<bool> rewrite(const Node& n) {
    if (is_pool(n)) {
      TW_TRY(const int x, turned(n.inputs[0], value(n.inputs[0]).type.shape, {0, 2, 3, 1}));
      return finish(n, n.op + "_nhwc", {x}, n.attrs);
    }
    if (!is_plain_conv(g_, n)) return false;
    const Dims &x = value(n.inputs[0]).type.shape, &w = value(n.inputs[1]).type.shape;
    const int64_t groups = n.attrs.integer("groups", 1);
    TW_TRY(const int data, turned(n.inputs[0], x, {0, 2, 3, 1}));
    TW_TRY(const int weight, groups == 1 ? turned(n.inputs[1], w, {2, 3, 1, 0}) : turned(n.inputs[1], {x[1], w[0] / x[1], w[2], w[3]}, {2, 3, 0, 1}));
    Attrs attrs = n.attrs;
    attrs.values.erase("groups");
    return finish(n, groups == 1 ? "conv2d_nhwc" : "depthwise_conv2d_nhwc", {data, weight}, std::move(attrs));
  }

  /// Adds the node, its bias and the transposition back.
  Expected<bool> finish(const Node& n, const std::string& op, std::vector<int> inputs, Attrs attrs) {
    TW_TRY(int y, add(op, std::move(inputs), std::move(attrs), n.name));
    if (n.op == "conv2d" && n.inputs.size() > 2 && n.inputs[2] >= 0) {
      const int bias = n.inputs[2];
      TW_TRY(const int wide, turned(bias, {1, 1, 1, value(bias).type.num_elements()}, {0, 1, 2, 3}));
      TW_TRY(y, add("add", {y, wide}, {}, n.name + ".bias"));
    }
    const std::string& name = value(n.outputs[0]).name;
    TW_TRY(const int back, add("transpose", {y}, Attrs{{{"perm", Dims{0, 3, 1, 2}}}}, name + ".transpose"));
    rewrite_.builder().rename(back, name);
    rewrite_.replace(n.outputs[0], back);
    return true;
  }

  const Graph& g_;
  Rewriter rewrite_;
};

}  // namespace

Expected<Graph> channels_last(const Graph& g, const Target& target) {
  if (std::none_of(g.nodes.begin(), g.nodes.end(), [&](const Node& n) { return is_pool(n) || is_plain_conv(g, n); })) return g;
  TW_TRY(const Graph turned, ChannelTurner(g).run());
  TW_TRY(const Graph sunk, with_sunk_transposes(turned));
  return simplify_expressions(sunk, target);  // small images: what is left to move is a reshape
}

}  // namespace tw::graph
