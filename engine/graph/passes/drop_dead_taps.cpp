// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/drop_dead_taps.h"

#include <algorithm>

#include "engine/graph/passes/constants.h"
#include "engine/graph/rewrite.h"
#include "engine/te/window.h"

namespace tw::graph {

namespace {

using Dims = std::vector<int64_t>;

/// A convolution's window along one dimension of the image, with what of the padding is behind it.
struct Line : te::WindowLine {
  int64_t after;

  /// Whether some result meets the image through that tap.
  bool used(int64_t tap) const {
    for (int64_t o = 0; o < result; ++o)
      if (meets(tap, o, 1)) return true;
    return false;
  }
  /// The same without its first taps and with so many of the others; nothing where that would begin inside the image, or give other results.
  std::optional<Line> cut(int64_t first, int64_t count) const {
    Line out = *this;
    out.taps = count;
    out.before -= first * dilation;
    const int64_t last = (result - 1) * stride + (count - 1) * dilation - out.before;  // what the last result reads last
    out.after = std::max<int64_t>(0, last - (image - 1));
    const int64_t results = (image + out.before + out.after - (count - 1) * dilation - 1) / stride + 1;
    return out.before >= 0 && results == result ? std::optional(out) : std::nullopt;
  }
};

struct Cut {
  Dims starts, sizes, pads;  ///< of the weights, and of the image
};

/// Where every dimension keeps what it can; nothing if that is all.
std::optional<Cut> cut_of(const Graph& g, const Node& n) {
  if (n.op != "conv1d" && n.op != "conv2d" && n.op != "conv3d") return std::nullopt;
  const auto type = [&](int v) -> const Dims& { return g.values[static_cast<size_t>(v)].type.shape; };
  const Dims &x = type(n.inputs[0]), &w = type(n.inputs[1]), &y = type(n.outputs[0]);
  if (!g.values[static_cast<size_t>(n.inputs[1])].constant) return std::nullopt;
  const size_t spatial = x.size() - 2;
  const Dims ones(spatial, 1), strides = n.attrs.integers("strides", ones), dilations = n.attrs.integers("dilations", ones);
  Cut cut{Dims(w.size(), 0), w, n.attrs.integers("pads", Dims(2 * spatial, 0))};
  bool shorter = false;
  for (size_t d = 0; d < spatial; ++d) {
    const Line line{{d + 2, x[d + 2], y[d + 2], w[d + 2], strides[d], dilations[d], cut.pads[d]}, cut.pads[d + spatial]};
    int64_t first = 0, end = line.taps;
    while (first < end && !line.used(first)) ++first;
    while (end > first && !line.used(end - 1)) --end;
    const auto kept = end > first && end - first < line.taps ? line.cut(first, end - first) : std::nullopt;
    if (!kept) continue;
    shorter = true;
    cut.starts[d + 2] = first;
    cut.sizes[d + 2] = kept->taps;
    cut.pads[d] = kept->before;
    cut.pads[d + spatial] = kept->after;
  }
  return shorter ? std::optional(std::move(cut)) : std::nullopt;
}

}  // namespace

Expected<Graph> drop_dead_taps(const Graph& g, const Target&) {
  if (std::none_of(g.nodes.begin(), g.nodes.end(), [&](const Node& n) { return cut_of(g, n).has_value(); })) return g;
  Rewriter rewrite(g);
  for (const Node& n : g.nodes) {
    rewrite.at(n);
    const auto cut = cut_of(g, n);
    if (!cut) {
      TW_CHECK(rewrite.copy(n));
      continue;
    }
    const Value& weight = g.values[static_cast<size_t>(n.inputs[1])];
    TW_TRY(HostArray kept, fold("slice", {*weight.constant}, Attrs{{{"starts", cut->starts}, {"steps", Dims(cut->starts.size(), 1)}, {"sizes", cut->sizes}}}));
    Attrs attrs = n.attrs;
    attrs.values["pads"] = cut->pads;
    std::vector<int> inputs;
    for (const int v : n.inputs) inputs.push_back(rewrite.value(v));
    inputs[1] = rewrite.builder().constant(weight.name, std::move(kept));
    TW_TRY(const std::vector<int> out, rewrite.builder().node(n.op, std::move(inputs), std::move(attrs), n.name));
    rewrite.builder().rename(out[0], g.values[static_cast<size_t>(n.outputs[0])].name);
    rewrite.replace(n.outputs[0], out[0]);
  }
  return std::move(rewrite).finish();
}

}  // namespace tw::graph
