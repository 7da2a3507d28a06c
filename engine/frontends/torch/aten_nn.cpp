// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "engine/frontends/shared/pooling.h"
#include "engine/frontends/torch/aten.h"

namespace tw::frontends {

namespace {

/// A batch of one for data without it.
struct Batched {
  int v;
  bool added;
};
Batched batched(TorchNode& n, int x, size_t spatial) {
  if (static_cast<size_t>(n.rank(x)) == spatial + 2) return {x, false};
  if (static_cast<size_t>(n.rank(x)) != spatial + 1) n.invalid(fmt::format("expected data with {} spatial dimensions, found {}", spatial, shape_text(n.shape(x))));
  Dims s = n.shape(x);
  s.insert(s.begin(), 1);
  return {n.reshape(x, s), true};
}
int unbatched(TorchNode& n, int y, bool added) {
  if (!added) return y;
  const Dims s = n.shape(y);
  return n.reshape(y, Dims(s.begin() + 1, s.end()));
}

Dims both_sides(const Dims& pads) {
  Dims out = pads;
  out.insert(out.end(), pads.begin(), pads.end());
  return out;
}

TorchResults convolution_of(TorchNode& n, bool transposed) {
  const int w = n.tensor("weight");
  const size_t spatial = n.rank(w) < 3 ? 0 : static_cast<size_t>(n.rank(w)) - 2;
  if (spatial < 1 || spatial > 3) n.unsupported(fmt::format("a weight of shape {}", shape_text(n.shape(w))));
  const Batched x = batched(n, n.tensor("input"), spatial);
  const Dims strides = per_dimension(n, "stride", spatial, 1), dilations = per_dimension(n, "dilation", spatial, 1);
  Dims pads(2 * spatial, 0);
  const Json* padding = n.raw("padding");
  if (padding && optional_field(*padding, "as_string")) {
    const std::string mode = n.text("padding", "valid");
    if (mode != "same" && mode != "valid") n.unsupported(fmt::format("padding '{}'", printable(mode.substr(0, 64))));
    for (size_t d = 0; mode == "same" && d < spatial; ++d) {
      const int64_t total = dilations[d] * (n.shape(w)[d + 2] - 1);
      pads[d] = total / 2;
      pads[d + spatial] = total - total / 2;
    }
  } else {
    pads = both_sides(per_dimension(n, "padding", spatial, 0));
  }
  graph::Attrs a = attrs({{"strides", strides}, {"dilations", dilations}, {"pads", pads}, {"groups", n.integer("groups", 1)}});
  if (transposed) a.values["output_padding"] = per_dimension(n, "output_padding", spatial, 0);
  std::vector<int> operands{x.v, w};
  if (n.has("bias")) operands.push_back(n.tensor("bias"));
  return n.one(unbatched(n, n.emit(fmt::format("conv{}d{}", spatial, transposed ? "_transpose" : ""), operands, a), x.added));
}
TorchResults conv(TorchNode& n) { return convolution_of(n, false); }
TorchResults conv_transpose(TorchNode& n) { return convolution_of(n, true); }
TorchResults convolution(TorchNode& n) { return convolution_of(n, n.boolean("transposed", false)); }

struct Pooling {
  Batched x;
  Dims kernel;
  graph::Attrs attrs;
};
Pooling pooling(TorchNode& n, size_t spatial) {
  Pooling p{batched(n, n.tensor("self"), spatial), per_dimension(n, "kernel_size", spatial, 1), {}};
  Dims strides = n.integers("stride");
  strides = strides.empty() ? p.kernel : per_dimension(n, "stride", spatial, 1);
  const Dims pads = both_sides(per_dimension(n, "padding", spatial, 0)), dilations = per_dimension(n, "dilation", spatial, 1);
  const bool ceil_mode = n.boolean("ceil_mode", false);
  const Dims shape = n.shape(p.x.v);
  if (ceil_mode) cut_windows(p.kernel, {shape.begin() + 2, shape.end()}, strides, dilations, pads);
  p.attrs = attrs({{"kernel", p.kernel}, {"strides", strides}, {"pads", pads}, {"dilations", dilations}, {"ceil_mode", int64_t{ceil_mode}}});
  return p;
}
template <size_t kSpatial>
TorchResults max_pool(TorchNode& n) {
  const Pooling p = pooling(n, kSpatial);
  TorchResults out = n.one(unbatched(n, n.emit(fmt::format("max_pool{}d", kSpatial), {p.x.v}, p.attrs), p.x.added));
  if (n.has_result(1)) {
    // PyTorch counts places within a channel.
    int places = n.emit(fmt::format("max_pool{}d_indices", kSpatial), {p.x.v}, p.attrs);
    double area = 1;
    for (size_t d = 2; d < n.shape(p.x.v).size(); ++d) area *= static_cast<double>(n.shape(p.x.v)[d]);
    places = n.with_scalar("mod", places, area);
    out.push_back({.value = unbatched(n, places, p.x.added)});
  }
  return out;
}
template <size_t kSpatial>
TorchResults avg_pool(TorchNode& n) {
  Pooling p = pooling(n, kSpatial);
  p.attrs.values["count_include_pad"] = int64_t{n.boolean("count_include_pad", true)};
  int y = n.emit(fmt::format("avg_pool{}d", kSpatial), {p.x.v}, p.attrs);
  if (n.has("divisor_override")) {
    double area = 1;
    for (const int64_t k : p.kernel) area *= static_cast<double>(k);
    if (!n.boolean("count_include_pad", true)) n.unsupported("divisor_override without counting the padding");
    y = n.with_scalar("mul", y, area / n.real("divisor_override", area));
  }
  return n.one(unbatched(n, y, p.x.added));
}

/// Windows that divide a dimension into as many parts as wanted: part o reaches from floor(o * in / out) to ceil((o + 1) * in / out).
int adaptive(TorchNode& n, int x, size_t axis, int64_t parts, bool average) {
  const int64_t extent = n.shape(x)[axis];
  if (parts == extent) return x;
  Dims starts, sizes;
  int64_t widest = 0;
  for (int64_t o = 0; o < parts; ++o) {
    starts.push_back(o * extent / parts);
    sizes.push_back(((o + 1) * extent + parts - 1) / parts - starts.back());
    widest = std::max(widest, sizes.back());
  }
  HostArray table = HostArray::make(kInt64, {parts, widest}), share = HostArray::make(n.dtype(x), {parts, widest});
  for (int64_t o = 0; o < parts; ++o)
    for (int64_t i = 0; i < widest; ++i) {
      const bool inside = i < sizes[static_cast<size_t>(o)];
      table.set_int(o * widest + i, starts[static_cast<size_t>(o)] + (inside ? i : 0));  // for maxima the first element again
      share.set(o * widest + i, inside ? 1.0 / static_cast<double>(sizes[static_cast<size_t>(o)]) : 0);
    }
  if (average) return n.emit("resample", {x, n.constant(std::move(table)), n.constant(std::move(share))}, attrs({{"axis", static_cast<int64_t>(axis)}}));
  const int windows = n.emit("gather", {x, n.constant(std::move(table))}, attrs({{"axis", static_cast<int64_t>(axis)}}));
  return n.reduce("reduce_max", windows, {static_cast<int64_t>(axis) + 1}, false);
}

int adaptive_pool(TorchNode& n, size_t spatial, bool average) {
  int x = n.tensor("self");
  const size_t lead = static_cast<size_t>(n.rank(x)) < spatial ? 0 : static_cast<size_t>(n.rank(x)) - spatial;
  if (lead < 1 || lead > 2) n.invalid(fmt::format("expected data with {} spatial dimensions, found {}", spatial, shape_text(n.shape(x))));
  const Dims s = n.shape(x);
  Dims wanted = n.integers("output_size");
  if (wanted.size() == 1) wanted.assign(spatial, wanted[0]);
  if (wanted.size() != spatial) n.invalid(fmt::format("expected {} extents, found {}", spatial, wanted.size()));
  Dims kernel;
  bool equal = true, all = true;
  for (size_t d = 0; d < spatial; ++d) {
    if (wanted[d] < 1 || wanted[d] > 1 << 20) n.unsupported(fmt::format("an output extent of {}", wanted[d]));
    equal = equal && s[lead + d] % wanted[d] == 0;
    all = all && wanted[d] == 1;
    kernel.push_back(s[lead + d] / wanted[d]);
  }
  if (all) {
    Dims axes;
    for (size_t d = 0; d < spatial; ++d) axes.push_back(static_cast<int64_t>(lead + d));
    return n.reduce(average ? "reduce_mean" : "reduce_max", x, axes, true);
  }
  if (equal) {  // windows of one size beside each other
    const Batched b = batched(n, x, spatial);
    return unbatched(n, n.emit(fmt::format("{}_pool{}d", average ? "avg" : "max", spatial), {b.v}, attrs({{"kernel", kernel}, {"strides", kernel}})), b.added);
  }
  for (size_t d = 0; d < spatial; ++d) x = adaptive(n, x, lead + d, wanted[d], average);
  return x;
}
template <size_t kSpatial>
TorchResults adaptive_avg_pool(TorchNode& n) {
  return n.one(adaptive_pool(n, kSpatial, true));
}
template <size_t kSpatial>
TorchResults adaptive_max_pool(TorchNode& n) {
  return n.one(adaptive_pool(n, kSpatial, false));  // where the maxima are is not computed: who asks for it is refused
}

/// Every element back to the place that a pool took it from, zeros elsewhere. Places count through one channel's image.
TorchResults max_unpool(TorchNode& n) {
  const int x = n.tensor("self"), places = n.tensor("indices");
  const Dims size = n.integers("output_size"), from = n.shape(x);
  if (size.size() + 1 > from.size() || n.shape(places) != from) n.invalid(fmt::format("expected places for {} and fewer extents than it has, found {} and {}", shape_text(from), shape_text(n.shape(places)), shape_text(size)));
  const size_t outer = from.size() - size.size();
  Dims shape(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(outer)), flat = shape, taken = shape;
  shape.insert(shape.end(), size.begin(), size.end());
  const auto product = [](auto begin, auto end) { return std::accumulate(begin, end, int64_t{1}, std::multiplies<>()); };
  flat.push_back(product(size.begin(), size.end()));
  taken.push_back(product(from.begin() + static_cast<std::ptrdiff_t>(outer), from.end()));
  const int zeros = n.broadcast(n.constant(HostArray::make(n.dtype(x), Dims(flat.size(), 1))), flat);
  const int y = n.emit("scatter_elements", {zeros, n.reshape(places, taken), n.reshape(x, taken)}, attrs({{"axis", static_cast<int64_t>(outer)}, {"reduction", std::string("none")}}));
  return n.one(n.reshape(y, shape));
}

constexpr AtenOp kAtenNn[] = {
    {"aten._adaptive_avg_pool2d", adaptive_avg_pool<2>},
    {"aten._adaptive_avg_pool3d", adaptive_avg_pool<3>},
    {"aten._convolution", convolution},
    {"aten._convolution_mode", conv},
    {"aten.adaptive_avg_pool1d", adaptive_avg_pool<1>},
    {"aten.adaptive_avg_pool2d", adaptive_avg_pool<2>},
    {"aten.adaptive_avg_pool3d", adaptive_avg_pool<3>},
    {"aten.adaptive_max_pool1d", adaptive_max_pool<1>},
    {"aten.adaptive_max_pool2d", adaptive_max_pool<2>},
    {"aten.adaptive_max_pool3d", adaptive_max_pool<3>},
    {"aten.avg_pool1d", avg_pool<1>},
    {"aten.avg_pool2d", avg_pool<2>},
    {"aten.avg_pool3d", avg_pool<3>},
    {"aten.conv1d", conv},
    {"aten.conv2d", conv},
    {"aten.conv3d", conv},
    {"aten.conv_transpose1d", conv_transpose},
    {"aten.conv_transpose2d", conv_transpose},
    {"aten.conv_transpose3d", conv_transpose},
    {"aten.convolution", convolution},
    {"aten.max_pool1d", max_pool<1>},
    {"aten.max_pool1d_with_indices", max_pool<1>},
    {"aten.max_pool2d", max_pool<2>},
    {"aten.max_pool2d_with_indices", max_pool<2>},
    {"aten.max_unpool2d", max_unpool},
    {"aten.max_unpool3d", max_unpool},
    {"aten.max_pool3d", max_pool<3>},
    {"aten.max_pool3d_with_indices", max_pool<3>},
};

}  // namespace

std::span<const AtenOp> aten_nn() { return kAtenNn; }

}  // namespace tw::frontends
