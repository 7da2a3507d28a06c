// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/frontends/shared/columns.h"
#include "engine/frontends/torch/aten.h"
#include "engine/frontends/torch/limits.h"

namespace tw::frontends {

namespace {

/// Tensors that are put together have the type of the result.
std::vector<int> parts_of(TorchNode& n) {
  std::vector<int> parts = n.tensors("tensors");
  if (parts.empty()) n.invalid("no tensors to put together");
  for (int& v : parts) v = n.cast(v, n.result_type());
  return parts;
}
TorchResults cat(TorchNode& n) {
  std::vector<int> parts = parts_of(n);
  // A tensor [0] adds nothing to tensors of any rank.
  std::vector<int> rest = parts;
  std::erase_if(rest, [&](int v) { return n.shape(v) == Dims{0}; });
  if (rest.empty()) return n.one(parts[0]);
  return n.one(n.concat(rest, n.axis(n.integer("dim", 0), n.rank(rest[0]))));
}
TorchResults stack(TorchNode& n) {
  const std::vector<int> parts = parts_of(n);
  return n.one(n.stack(parts, n.axis(n.integer("dim", 0), n.rank(parts[0]) + 1)));
}

TorchResults repeat(TorchNode& n) {
  int x = n.tensor("self");
  const Dims times = n.integers(n.has("repeats") ? "repeats" : "dims");
  Dims shape = n.shape(x), repeats = times;
  if (repeats.size() < shape.size()) repeats.insert(repeats.begin(), shape.size() - repeats.size(), 1);
  if (static_cast<int64_t>(repeats.size()) > torch_limits::kRank) n.invalid("too many dimensions");
  shape.insert(shape.begin(), repeats.size() - shape.size(), 1);
  x = n.reshape(x, shape);
  Dims result = shape;
  for (size_t d = 0; d < shape.size(); ++d) result[d] *= repeats[d];
  if (std::find(result.begin(), result.end(), 0) != result.end()) return n.one(n.constant(HostArray::make(n.dtype(x), result)));
  return n.one(result == shape ? n.emit("identity", {x}) : n.emit("tile", {x}, attrs({{"repeats", repeats}})));
}

/// Every element several times, one number for all or one for each.
TorchResults repeat_interleave(TorchNode& n) {
  if (!n.has("self")) n.unsupported("positions alone, without a tensor to repeat");
  int x = n.tensor("self");
  if (!n.has("dim")) x = n.reshape(x, {n.type(x).num_elements()});
  const int64_t axis = n.axis(n.integer("dim", 0), n.rank(x)), extent = n.shape(x)[static_cast<size_t>(axis)];
  Dims table;
  Dims counts(static_cast<size_t>(extent), 1);
  if (n.is_tensor("repeats")) {
    const HostArray* given = n.constant_of(n.tensor("repeats"));
    if (!given) n.unsupported("numbers of repetitions that are computed at run time: the shape of the result depends on them");
    for (int64_t i = 0; i < extent; ++i) counts[static_cast<size_t>(i)] = given->get_int(given->num_elements() == 1 ? 0 : i);
  } else {
    counts.assign(static_cast<size_t>(extent), n.integer("repeats", 1));
  }
  for (int64_t i = 0; i < extent; ++i)
    for (int64_t k = 0; k < counts[static_cast<size_t>(i)]; ++k) table.push_back(i);
  return n.one(n.emit("gather", {x, n.integers_constant(table)}, attrs({{"axis", axis}})));
}

TorchResults flip(TorchNode& n) {
  const int x = n.tensor("self");
  const Dims s = n.shape(x), axes = n.axes(n.integers("dims"), n.rank(x));
  Dims starts(s.size(), 0), steps(s.size(), 1);
  for (const int64_t d : axes) {
    starts[static_cast<size_t>(d)] = s[static_cast<size_t>(d)] - 1;
    steps[static_cast<size_t>(d)] = -1;
  }
  if (n.type(x).num_elements() == 0) return n.one(x);
  return n.one(n.emit("slice", {x}, attrs({{"starts", starts}, {"steps", steps}, {"sizes", s}})));
}
TorchResults roll(TorchNode& n) {
  int x = n.tensor("self");
  const Dims whole = n.shape(x), shifts = n.integers("shifts");
  Dims axes = n.integers("dims");
  const bool flat = axes.empty();
  if (flat) {
    x = n.reshape(x, {n.type(x).num_elements()});
    axes = {0};
  }
  axes = n.axes(axes, n.rank(x));
  if (axes.size() != shifts.size()) n.invalid("shifts and dimensions differ in number");
  for (size_t k = 0; k < axes.size(); ++k) {
    const int64_t extent = n.shape(x)[static_cast<size_t>(axes[k])];
    if (extent == 0) continue;
    const int64_t by = ((shifts[k] % extent) + extent) % extent;
    if (by == 0) continue;
    x = n.concat({n.slice(x, axes[k], extent - by, by), n.slice(x, axes[k], 0, extent - by)}, axes[k]);
  }
  return n.one(n.reshape(x, whole));
}

/// Amounts from the last dimension on, [before, after] each; negative ones cut off.
int padded(TorchNode& n, int x, const Dims& amounts, const std::string& mode, double value) {
  const auto rank = static_cast<size_t>(n.rank(x));
  if (amounts.size() % 2 != 0 || amounts.size() / 2 > rank) n.invalid(fmt::format("{} amounts of padding for {} dimensions", amounts.size(), rank));
  Dims pads(2 * rank, 0);
  bool any = false;
  for (size_t k = 0; k < amounts.size() / 2; ++k) {
    const size_t d = rank - 1 - k;
    int64_t before = amounts[2 * k], after = amounts[2 * k + 1];
    for (const int64_t p : {before, after})
      if (p < -(int64_t{1} << 31) || p > int64_t{1} << 31) n.invalid(fmt::format("padding of {} elements", p));
    const int64_t left = n.shape(x)[d] + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    if (left < 0) n.invalid(fmt::format("padding {} of {}", shape_text(amounts), shape_text(n.shape(x))));
    x = n.slice(x, static_cast<int64_t>(d), std::max<int64_t>(-before, 0), left);
    pads[d] = std::max<int64_t>(before, 0);
    pads[d + rank] = std::max<int64_t>(after, 0);
    any = any || pads[d] > 0 || pads[d + rank] > 0;
  }
  return any ? n.emit("pad", {x}, attrs({{"pads", pads}, {"mode", mode}, {"value", value}})) : x;
}
const char* mode_of(TorchNode& n, const std::string& mode) {
  if (mode == "constant") return "constant";
  if (mode == "reflect") return "reflect";
  if (mode == "replicate") return "edge";
  if (mode == "circular") return "wrap";
  n.unsupported(fmt::format("padding mode '{}'", printable(mode.substr(0, 64))));
}
TorchResults pad(TorchNode& n) { return n.one(padded(n, n.tensor("self"), n.integers("pad"), mode_of(n, n.text("mode", "constant")), n.real("value", 0))); }
TorchResults constant_pad(TorchNode& n) { return n.one(padded(n, n.tensor("self"), n.integers("pad"), "constant", n.real("value", 0))); }
TorchResults reflection_pad(TorchNode& n) { return n.one(padded(n, n.tensor("self"), n.integers("padding"), "reflect", 0)); }
TorchResults replication_pad(TorchNode& n) { return n.one(padded(n, n.tensor("self"), n.integers("padding"), "edge", 0)); }

TorchResults triangle(TorchNode& n, int64_t upper) {
  const int x = n.tensor("self");
  if (!n.dtype(x).is_bool()) return n.one(n.emit("trilu", {x}, attrs({{"k", n.integer("diagonal", 0)}, {"upper", upper}})));
  return n.one(n.cast(n.emit("trilu", {n.cast(x, kUInt8)}, attrs({{"k", n.integer("diagonal", 0)}, {"upper", upper}})), kBool));
}
TorchResults tril(TorchNode& n) { return triangle(n, 0); }
TorchResults triu(TorchNode& n) { return triangle(n, 1); }

/// [..., C * r * r, H, W] as [..., C, H * r, W * r], and back.
TorchResults pixel_shuffle(TorchNode& n) {
  const int x = n.tensor("self");
  const Dims s = n.shape(x);
  const int64_t r = n.integer("upscale_factor", 1);
  if (s.size() < 3 || r < 1 || s[s.size() - 3] % (r * r) != 0) n.invalid(fmt::format("data {} and a factor of {}", shape_text(s), r));
  Dims outer(s.begin(), s.end() - 3);
  int64_t batch = 1;
  for (const int64_t d : outer) batch *= d;
  const int64_t c = s[s.size() - 3] / (r * r), h = s[s.size() - 2], w = s[s.size() - 1];
  const int y = n.transpose(n.reshape(x, {batch, c, r, r, h, w}), {0, 1, 4, 2, 5, 3});
  Dims shape = outer;
  shape.insert(shape.end(), {c, h * r, w * r});
  return n.one(n.reshape(y, shape));
}
TorchResults pixel_unshuffle(TorchNode& n) {
  const int x = n.tensor("self");
  const Dims s = n.shape(x);
  const int64_t r = n.integer("downscale_factor", 1);
  if (s.size() < 3 || r < 1 || s[s.size() - 2] % r != 0 || s[s.size() - 1] % r != 0) n.invalid(fmt::format("data {} and a factor of {}", shape_text(s), r));
  Dims outer(s.begin(), s.end() - 3);
  int64_t batch = 1;
  for (const int64_t d : outer) batch *= d;
  const int64_t c = s[s.size() - 3], h = s[s.size() - 2] / r, w = s[s.size() - 1] / r;
  const int y = n.transpose(n.reshape(x, {batch, c, h, r, w, r}), {0, 1, 3, 5, 2, 4});
  Dims shape = outer;
  shape.insert(shape.end(), {c * r * r, h, w});
  return n.one(n.reshape(y, shape));
}
TorchResults channel_shuffle(TorchNode& n) {
  const int x = n.tensor("self");
  const Dims s = n.shape(x);
  const int64_t groups = n.integer("groups", 1);
  if (s.size() < 2 || groups < 1 || s[1] % groups != 0) n.invalid(fmt::format("data {} in {} groups", shape_text(s), groups));
  int64_t inner = 1;
  for (size_t d = 2; d < s.size(); ++d) inner *= s[d];
  return n.one(n.reshape(n.transpose(n.reshape(x, {s[0], groups, s[1] / groups, inner}), {0, 2, 1, 3}), s));
}

TorchResults meshgrid(TorchNode& n) {
  const std::vector<int> axes = n.tensors("tensors");
  const bool swap = n.text("indexing", "ij") == "xy" && axes.size() > 1;
  Dims shape;
  for (const int v : axes) shape.push_back(n.type(v).num_elements());
  if (swap) std::swap(shape[0], shape[1]);
  TorchResults out;
  for (size_t k = 0; k < axes.size(); ++k) {
    const size_t d = swap && k < 2 ? 1 - k : k;
    Dims one(axes.size(), 1);
    one[d] = shape[d];
    out.push_back({.value = n.broadcast(n.reshape(axes[k], one), shape)});
  }
  return out;
}
TorchResults broadcast_tensors(TorchNode& n) {
  const std::vector<int> all = n.tensors("tensors");
  Dims shape;
  for (const int v : all) {
    const Dims& s = n.shape(v);
    if (s.size() > shape.size()) shape.insert(shape.begin(), s.size() - shape.size(), 1);
    for (size_t d = 0; d < s.size(); ++d) {
      int64_t& to = shape[shape.size() - s.size() + d];
      if (to == 1) to = s[d];
    }
  }
  TorchResults out;
  for (const int v : all) out.push_back({.value = n.broadcast(v, shape)});
  return out;
}

/// Patches of an image as columns [N, C * kh * kw, positions].
TorchResults im2col(TorchNode& n) {
  int x = n.tensor("self");
  const Dims kernel = per_dimension(n, "kernel_size", 2, 1), dilation = per_dimension(n, "dilation", 2, 1), padding = per_dimension(n, "padding", 2, 0),
             stride = per_dimension(n, "stride", 2, 1);
  if (n.rank(x) != 4) n.unsupported(fmt::format("data of shape {}", shape_text(n.shape(x))));
  x = padded(n, x, {padding[1], padding[1], padding[0], padding[0]}, "constant", 0);
  const Dims s = n.shape(x);
  Dims counts;
  for (size_t d = 0; d < 2; ++d) {
    const int64_t room = s[d + 2] - dilation[d] * (kernel[d] - 1) - 1;
    if (room < 0) n.invalid(fmt::format("a window {} in {}", shape_text(kernel), shape_text(s)));
    counts.push_back(room / stride[d] + 1);
  }
  for (size_t d = 0; d < 2; ++d) {  // [N, C, kh, oh, kw, ow] at last
    const auto axis = static_cast<int64_t>(d == 0 ? 2 : 4);
    HostArray table = HostArray::make(kInt64, {kernel[d], counts[d]});
    for (int64_t k = 0; k < kernel[d]; ++k)
      for (int64_t o = 0; o < counts[d]; ++o) table.set_int(k * counts[d] + o, k * dilation[d] + o * stride[d]);
    x = n.emit("gather", {x, n.constant(std::move(table))}, attrs({{"axis", axis}}));
  }
  return n.one(n.reshape(n.transpose(x, {0, 1, 2, 4, 3, 5}), {s[0], s[1] * kernel[0] * kernel[1], counts[0] * counts[1]}));
}

/// The sum of such columns as an image.
TorchResults col2im(TorchNode& n) {
  const Dims padding = per_dimension(n, "padding", 2, 0);
  return n.one(columns_to_image(n, n.tensor("self"),
                                {per_dimension(n, "output_size", 2, 1), per_dimension(n, "kernel_size", 2, 1), per_dimension(n, "dilation", 2, 1),
                                 per_dimension(n, "stride", 2, 1), padding, padding}));
}

constexpr AtenOp kAtenShape[] = {
    {"aten.broadcast_tensors", broadcast_tensors},
    {"aten.cat", cat},
    {"aten.channel_shuffle", channel_shuffle},
    {"aten.native_channel_shuffle", channel_shuffle},
    {"aten.col2im", col2im},
    {"aten.concat", cat},
    {"aten.concatenate", cat},
    {"aten.constant_pad_nd", constant_pad},
    {"aten.flip", flip},
    {"aten.im2col", im2col},
    {"aten.meshgrid", meshgrid},
    {"aten.pad", pad},
    {"aten.pixel_shuffle", pixel_shuffle},
    {"aten.pixel_unshuffle", pixel_unshuffle},
    {"aten.reflection_pad1d", reflection_pad},
    {"aten.reflection_pad2d", reflection_pad},
    {"aten.reflection_pad3d", reflection_pad},
    {"aten.repeat", repeat},
    {"aten.repeat_interleave", repeat_interleave},
    {"aten.replication_pad1d", replication_pad},
    {"aten.replication_pad2d", replication_pad},
    {"aten.replication_pad3d", replication_pad},
    {"aten.roll", roll},
    {"aten.stack", stack},
    {"aten.tile", repeat},
    {"aten.tril", tril},
    {"aten.triu", triu},
};

}  // namespace

Dims per_dimension(TorchNode& n, const char* name, size_t dims, int64_t fallback) {
  Dims v = n.integers(name, Dims(dims, fallback));
  if (v.size() == 1 && dims > 1) v.assign(dims, v[0]);
  if (v.empty()) v.assign(dims, fallback);
  if (v.size() != dims) n.invalid(fmt::format("expected {} numbers in '{}', found {}", dims, name, v.size()));
  for (const int64_t x : v)
    if (x < 0 || x > int64_t{1} << 31) n.invalid(fmt::format("expected numbers from 0 to 2^31 in '{}', found {}", name, x));
  return v;
}

std::span<const AtenOp> aten_shape() { return kAtenShape; }

}  // namespace tw::frontends
