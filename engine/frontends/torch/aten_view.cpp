// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/frontends/torch/aten.h"
#include "engine/frontends/torch/limits.h"

namespace tw::frontends {

namespace {

// Functions whose result shows the elements of their operand: what is written to one is seen in the other.

using Kind = ViewStep::Kind;

ViewStep whole(const Dims& shape) { return {Kind::slice, shape, Dims(shape.size(), 0), Dims(shape.size(), 1)}; }

/// The wanted shape with at most one -1 worked out.
Dims full_shape(TorchNode& n, const Dims& from, Dims to) {
  int64_t total = 1, known = 1;
  for (const int64_t d : from) total *= d;
  std::optional<size_t> open;
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] == -1 && !open) {
      open = d;
      continue;
    }
    if (to[d] < 0 || (known > 0 && to[d] > (int64_t{1} << 40) / known)) n.invalid(fmt::format("shape {} for {} elements", shape_text(to), total));
    known *= to[d];
  }
  if (open) to[*open] = known > 0 ? total / known : 0;
  if (known * (open ? to[*open] : 1) != total) n.invalid(fmt::format("{} elements of shape {} do not fit {}", total, shape_text(from), shape_text(to)));
  return to;
}

TorchResults reshaped(TorchNode& n, Dims to) { return n.view("self", {Kind::reshape, full_shape(n, n.shape(n.tensor("self")), std::move(to))}); }
TorchResults view(TorchNode& n) {
  if (n.overload() == "dtype") {
    const int v = n.tensor("self");
    const DType to = n.type_named("dtype", n.dtype(v));
    if (to.bits != n.dtype(v).bits) n.unsupported(fmt::format("{} seen as {}", n.dtype(v).name(), to.name()));
    return n.one(n.emit("bitcast", {v}, attrs({{"to", to.name()}})));
  }
  return reshaped(n, n.integers("size"));
}

/// A view where the strides of the operand allow it, else a copy.
TorchResults reshape(TorchNode& n) {
  const int v = n.tensor("self");
  const Dims to = full_shape(n, n.shape(v), n.integers(n.has("shape") ? "shape" : "size"));
  const auto strides = n.strides("self");
  if (!strides || viewable(n.shape(v), *strides, to)) return n.view("self", {Kind::reshape, to});
  return n.one(n.reshape(v, to));
}
TorchResults contiguous(TorchNode& n) {
  const int v = n.tensor("self");
  const auto strides = n.strides("self");
  int64_t expected = 1;
  bool dense = true;
  for (size_t d = n.shape(v).size(); strides && d-- > 0; expected *= n.shape(v)[d]) dense = dense && (n.shape(v)[d] == 1 || (*strides)[d] == expected);
  return dense ? n.view("self", {Kind::reshape, n.shape(v)}) : n.one(v);
}
TorchResults flatten(TorchNode& n) {
  const Dims s = n.shape(n.tensor("self"));
  const auto rank = static_cast<int64_t>(s.size());
  if (rank == 0) return reshaped(n, {1});
  const int64_t from = n.axis(n.integer("start_dim", 0), rank), to = n.axis(n.integer("end_dim", -1), rank);
  Dims out(s.begin(), s.begin() + from);
  int64_t joined = 1;
  for (int64_t d = from; d <= to; ++d) joined *= s[static_cast<size_t>(d)];
  out.push_back(joined);
  out.insert(out.end(), s.begin() + to + 1, s.end());
  return reshaped(n, out);
}
TorchResults unflatten(TorchNode& n) {
  Dims s = n.shape(n.tensor("self"));
  const int64_t axis = n.axis(n.integer("dim", 0), static_cast<int64_t>(s.size()));
  const Dims parts = full_shape(n, {s[static_cast<size_t>(axis)]}, n.integers("sizes"));
  s.erase(s.begin() + axis);
  s.insert(s.begin() + axis, parts.begin(), parts.end());
  return reshaped(n, s);
}
TorchResults ravel(TorchNode& n) { return reshaped(n, {n.type(n.tensor("self")).num_elements()}); }
TorchResults view_as(TorchNode& n) { return reshaped(n, n.shape(n.tensor("other"))); }

TorchResults squeeze(TorchNode& n) {
  const Dims s = n.shape(n.tensor("self"));
  const auto rank = static_cast<int64_t>(s.size());
  std::optional<Dims> given;
  if (n.has("dim")) given = rank == 0 ? Dims{} : n.axes(n.integers("dim"), rank);
  Dims to;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t extent = s[static_cast<size_t>(d)];
    const bool named = !given || std::find(given->begin(), given->end(), d) != given->end();
    if (!(named && extent == 1)) to.push_back(extent);
  }
  return n.view("self", {Kind::reshape, to});
}
TorchResults unsqueeze(TorchNode& n) {
  Dims s = n.shape(n.tensor("self"));
  const int64_t axis = n.axis(n.integer("dim", 0), static_cast<int64_t>(s.size()) + 1);
  s.insert(s.begin() + axis, 1);
  return n.view("self", {Kind::reshape, s});
}

TorchResults permuted(TorchNode& n, const Dims& order) { return n.view("self", {Kind::permute, order}); }
TorchResults permute(TorchNode& n) {
  const int64_t rank = n.rank(n.tensor("self"));
  const Dims order = n.axes(n.integers("dims"), rank);
  if (static_cast<int64_t>(order.size()) != rank) n.invalid(fmt::format("an order of {} dimensions for {}", order.size(), rank));
  return permuted(n, order);
}
Dims swapped(TorchNode& n, int64_t a, int64_t b) {
  const int64_t rank = n.rank(n.tensor("self"));
  Dims order;
  for (int64_t d = 0; d < rank; ++d) order.push_back(d);
  if (rank > 0) std::swap(order[static_cast<size_t>(n.axis(a, rank))], order[static_cast<size_t>(n.axis(b, rank))]);
  return order;
}
TorchResults transpose(TorchNode& n) {
  const bool axes = n.has("axis0");
  return permuted(n, swapped(n, n.integer(axes ? "axis0" : "dim0", 0), n.integer(axes ? "axis1" : "dim1", 1)));
}
TorchResults matrix_transpose(TorchNode& n) { return permuted(n, n.rank(n.tensor("self")) < 2 ? swapped(n, 0, 0) : swapped(n, -2, -1)); }
TorchResults all_transposed(TorchNode& n) {
  Dims order;
  for (int64_t d = n.rank(n.tensor("self")); d-- > 0;) order.push_back(d);
  return permuted(n, order);
}
TorchResults movedim(TorchNode& n) {
  const int64_t rank = n.rank(n.tensor("self"));
  const Dims from = n.axes(n.integers("source"), rank), to = n.axes(n.integers("destination"), rank);
  if (from.size() != to.size()) n.invalid("sources and destinations differ in number");
  Dims order(static_cast<size_t>(rank), -1), rest;
  for (size_t k = 0; k < from.size(); ++k) order[static_cast<size_t>(to[k])] = from[k];
  for (int64_t d = 0; d < rank; ++d)
    if (std::find(from.begin(), from.end(), d) == from.end()) rest.push_back(d);
  size_t next = 0;
  for (int64_t& d : order)
    if (d < 0) d = rest[next++];
  return permuted(n, order);
}

/// Leading dimensions are added, dimensions of 1 repeated; -1 keeps one.
TorchResults expanded(TorchNode& n, Dims to) {
  const Dims s = n.shape(n.tensor("self"));
  if (to.size() < s.size() || static_cast<int64_t>(to.size()) > torch_limits::kRank)
    n.invalid(fmt::format("shape {} expanded to {}", shape_text(s), shape_text(to)));
  const size_t lead = to.size() - s.size();
  Dims padded(lead, 1);
  padded.insert(padded.end(), s.begin(), s.end());
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] == -1) to[d] = padded[d];
    if (padded[d] != 1 && padded[d] != to[d]) n.invalid(fmt::format("shape {} expanded to {}", shape_text(s), shape_text(to)));
  }
  std::vector<ViewStep> steps;
  if (lead > 0) steps.push_back({Kind::reshape, padded});
  steps.push_back({Kind::expand, to});
  return {{.of = n.reference("self"), .steps = steps}};
}
TorchResults expand(TorchNode& n) { return expanded(n, n.integers("size")); }
TorchResults expand_as(TorchNode& n) { return expanded(n, n.shape(n.tensor("other"))); }

ViewStep part(const Dims& shape, int64_t axis, int64_t from, int64_t size, int64_t step = 1) {
  ViewStep s = whole(shape);
  s.shape[static_cast<size_t>(axis)] = size;
  s.starts[static_cast<size_t>(axis)] = from;
  s.steps[static_cast<size_t>(axis)] = step;
  return s;
}

TorchResults slice(TorchNode& n) {
  const Dims s = n.shape(n.tensor("self"));
  const int64_t axis = n.axis(n.integer("dim", 0), static_cast<int64_t>(s.size())), extent = s[static_cast<size_t>(axis)], step = n.integer("step", 1);
  if (step < 1) n.invalid(fmt::format("a step of {}", step));
  const auto limited = [&](int64_t p) { return std::clamp<int64_t>(p < 0 ? p + extent : p, 0, extent); };
  const int64_t from = limited(n.integer("start", 0)), to = limited(n.integer("end", extent));
  const int64_t size = to > from ? (to - from + step - 1) / step : 0;
  return n.view("self", part(s, axis, size == 0 ? 0 : from, size, size <= 1 ? 1 : step));
}
TorchResults narrow(TorchNode& n) {
  const Dims s = n.shape(n.tensor("self"));
  const int64_t axis = n.axis(n.integer("dim", 0), static_cast<int64_t>(s.size())), extent = s[static_cast<size_t>(axis)], size = n.integer("length", 0);
  int64_t from = n.integer("start", 0);
  if (from < 0) from += extent;
  if (from < 0 || size < 0 || from > extent - size) n.invalid(fmt::format("{} elements from {} of {}", size, from, extent));
  return n.view("self", part(s, axis, from, size));
}

TorchResult selected(TorchNode& n, const Dims& s, int64_t axis, int64_t position) {
  Dims rest = s;
  rest.erase(rest.begin() + axis);
  return {.of = n.reference("self"), .steps = {part(s, axis, position, 1), {Kind::reshape, rest}}};
}
TorchResults select(TorchNode& n) {
  const Dims s = n.shape(n.tensor("self"));
  const int64_t axis = n.axis(n.integer("dim", 0), static_cast<int64_t>(s.size()));
  const Json* index = n.raw("index");
  if (index && n.is_tensor("index") && !n.constant_of(n.tensor("index")))  // computed at run time
    return n.one(n.emit("gather", {n.tensor("self"), n.reshape(n.tensor("index"), {})}, attrs({{"axis", axis}})));
  return {selected(n, s, axis, n.axis(n.integer("index", 0), s[static_cast<size_t>(axis)]))};
}
TorchResults unbind(TorchNode& n) {
  const Dims s = n.shape(n.tensor("self"));
  const int64_t axis = n.axis(n.integer("dim", 0), static_cast<int64_t>(s.size()));
  TorchResults out;
  for (int64_t i = 0; i < s[static_cast<size_t>(axis)]; ++i) out.push_back(selected(n, s, axis, i));
  return out;
}

TorchResults split_into(TorchNode& n, const Dims& sizes, int64_t axis) {
  const Dims s = n.shape(n.tensor("self"));
  TorchResults out;
  int64_t from = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || size > s[static_cast<size_t>(axis)] - from) n.invalid(fmt::format("parts of sizes {} of {}", shape_text(sizes), shape_text(s)));
    out.push_back({.of = n.reference("self"), .steps = {part(s, axis, size == 0 ? 0 : from, size)}});
    from += size;
  }
  return out;
}
TorchResults split(TorchNode& n) {
  const Dims s = n.shape(n.tensor("self"));
  const int64_t axis = n.axis(n.integer("dim", 0), static_cast<int64_t>(s.size())), extent = s[static_cast<size_t>(axis)];
  if (n.has("split_sizes")) return split_into(n, n.integers("split_sizes"), axis);
  const Dims given = n.integers("split_size");
  if (given.size() > 1 || n.overload() == "sizes") return split_into(n, given, axis);
  const int64_t each = given.at(0);
  if (each < 1) n.invalid(fmt::format("parts of {} elements", each));
  Dims sizes;
  for (int64_t from = 0; from < extent; from += each) sizes.push_back(std::min(each, extent - from));
  return split_into(n, sizes, axis);
}
TorchResults chunk(TorchNode& n) {
  const Dims s = n.shape(n.tensor("self"));
  const int64_t axis = n.axis(n.integer("dim", 0), static_cast<int64_t>(s.size())), extent = s[static_cast<size_t>(axis)], count = n.integer("chunks", 1);
  if (count < 1) n.invalid(fmt::format("{} parts", count));
  const int64_t each = std::max<int64_t>(1, (extent + count - 1) / count);
  Dims sizes;
  for (int64_t from = 0; from < extent; from += each) sizes.push_back(std::min(each, extent - from));
  return split_into(n, sizes, axis);
}
TorchResults tensor_split(TorchNode& n) {
  const Dims s = n.shape(n.tensor("self"));
  const int64_t axis = n.axis(n.integer("dim", 0), static_cast<int64_t>(s.size())), extent = s[static_cast<size_t>(axis)];
  Dims sizes;
  if (n.has("sections")) {
    const int64_t count = n.integer("sections", 1);
    if (count < 1) n.invalid(fmt::format("{} parts", count));
    for (int64_t k = 0; k < count; ++k) sizes.push_back(extent / count + (k < extent % count ? 1 : 0));
  } else {
    int64_t from = 0;
    for (const int64_t i : n.integers("indices")) {
      const int64_t to = std::clamp<int64_t>(i < 0 ? i + extent : i, from, extent);
      sizes.push_back(to - from);
      from = to;
    }
    sizes.push_back(extent - from);
  }
  return split_into(n, sizes, axis);
}

/// Windows along a dimension, which become the last one. Overlapping ones are copies.
TorchResults unfold(TorchNode& n) {
  const int x = n.tensor("self");
  const int64_t rank = n.rank(x), axis = n.axis(n.integer("dimension", 0), rank), size = n.integer("size", 1), step = n.integer("step", 1);
  const int64_t extent = n.shape(x)[static_cast<size_t>(axis)];
  if (size < 1 || step < 1 || size > extent) n.invalid(fmt::format("windows of {} every {} of {} elements", size, step, extent));
  const int64_t count = (extent - size) / step + 1;
  HostArray table = HostArray::make(kInt64, {count, size});
  for (int64_t w = 0; w < count; ++w)
    for (int64_t i = 0; i < size; ++i) table.set_int(w * size + i, w * step + i);
  const int windows = n.emit("gather", {x, n.constant(std::move(table))}, attrs({{"axis", axis}}));  // [..., count, size, ...]
  Dims order;
  for (int64_t d = 0; d <= rank; ++d)
    if (d != axis + 1) order.push_back(d);
  order.push_back(axis + 1);
  return n.one(n.transpose(windows, order));
}

TorchResults diagonal(TorchNode& n) {
  const int x = n.tensor("self");
  const int64_t rank = n.rank(x), a = n.axis(n.integer("dim1", 0), rank), b = n.axis(n.integer("dim2", 1), rank);
  if (a == b) n.invalid(fmt::format("the diagonal of dimension {} with itself", a));
  Dims order, rest;
  for (int64_t d = 0; d < rank; ++d)
    if (d != a && d != b) order.push_back(d);
  for (const int64_t d : order) rest.push_back(n.shape(x)[static_cast<size_t>(d)]);
  order.push_back(a);
  order.push_back(b);
  const int64_t rows = n.shape(x)[static_cast<size_t>(a)], columns = n.shape(x)[static_cast<size_t>(b)], k = std::clamp(n.integer("offset", 0), -rows, columns);
  // Of the rows behind each other every element one row and one column on.
  const int64_t size = std::max<int64_t>(0, k >= 0 ? std::min(rows, columns - k) : std::min(rows + k, columns));
  rest.push_back(rows * columns);
  const ViewStep line = part(rest, static_cast<int64_t>(rest.size()) - 1, size == 0 ? 0 : k >= 0 ? k : -k * columns, size, size <= 1 ? 1 : columns + 1);
  return {{.of = n.reference("self"), .steps = {{Kind::permute, order}, {Kind::reshape, rest}, line}}};
}

/// Dimensions of size 1 up to rank `kRank`: rows before columns, a third one last.
template <int kRank>
TorchResults at_least(TorchNode& n) {
  const auto shape_of = [](Dims s) {
    if (s.empty()) s.push_back(1);
    if (s.size() == 1 && kRank >= 2) s.insert(s.begin(), 1);
    if (s.size() == 2 && kRank == 3) s.push_back(1);
    return s;
  };
  if (n.has("self")) return n.view("self", {Kind::reshape, shape_of(n.shape(n.tensor("self")))});
  TorchResults out;
  const std::vector<int> values = n.tensors("tensors"), references = n.references("tensors");
  for (size_t k = 0; k < values.size(); ++k) out.push_back({.of = references[k], .steps = {{Kind::reshape, shape_of(n.shape(values[k]))}}});
  return out;
}

/// Strides that only leave out, order and repeat dimensions of a dense tensor.
TorchResults as_strided(TorchNode& n) {
  const int x = n.tensor("self");
  const Dims size = n.integers("size"), stride = n.integers("stride");
  const int64_t offset = n.integer("storage_offset", 0), held = n.type(x).num_elements();
  if (size.size() != stride.size()) n.invalid("sizes and strides differ in number");
  int64_t count = 1, last = offset;
  for (size_t d = 0; d < size.size(); ++d) {
    if (size[d] < 0 || stride[d] < 0) n.invalid("a negative size or stride");
    count *= size[d];
    if (count > torch_limits::kMadeElements) n.unsupported(fmt::format("a result of shape {}", shape_text(size)));
    if (size[d] > 0) last += (size[d] - 1) * stride[d];
  }
  if (count > 0 && (offset < 0 || last >= held))
    n.invalid(fmt::format("sizes {} and strides {} leave the {} elements", shape_text(size), shape_text(stride), held));
  HostArray table = HostArray::make(kInt64, size);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, at = offset;
    for (size_t d = size.size(); d-- > 0; rest /= size[d]) at += rest % size[d] * stride[d];
    table.set_int(i, at);
  }
  return n.one(n.emit("gather", {n.reshape(x, {held}), n.constant(std::move(table))}, attrs({{"axis", int64_t{0}}})));
}

constexpr AtenOp kAtenView[] = {
    {"aten.T", all_transposed},
    {"aten._reshape_alias", view},
    {"aten._unsafe_view", view},
    {"aten.as_strided", as_strided},
    {"aten.atleast_1d", at_least<1>},
    {"aten.atleast_2d", at_least<2>},
    {"aten.atleast_3d", at_least<3>},
    {"aten.broadcast_to", expand},
    {"aten.chunk", chunk},
    {"aten.contiguous", contiguous},
    {"aten.diagonal", diagonal},
    {"aten.expand", expand},
    {"aten.expand_as", expand_as},
    {"aten.flatten", flatten},
    {"aten.mT", matrix_transpose},
    {"aten.matrix_H", matrix_transpose},
    {"aten.moveaxis", movedim},
    {"aten.movedim", movedim},
    {"aten.narrow", narrow},
    {"aten.numpy_T", all_transposed},
    {"aten.permute", permute},
    {"aten.ravel", ravel},
    {"aten.reshape", reshape},
    {"aten.reshape_as", view_as},
    {"aten.select", select},
    {"aten.slice", slice},
    {"aten.split", split},
    {"aten.split_with_sizes", split},
    {"aten.squeeze", squeeze},
    {"aten.swapaxes", transpose},
    {"aten.swapdims", transpose},
    {"aten.t", matrix_transpose},
    {"aten.tensor_split", tensor_split},
    {"aten.transpose", transpose},
    {"aten.unbind", unbind},
    {"aten.unflatten", unflatten},
    {"aten.unfold", unfold},
    {"aten.unsafe_chunk", chunk},
    {"aten.unsafe_split", split},
    {"aten.unsafe_split_with_sizes", split},
    {"aten.unsqueeze", unsqueeze},
    {"aten.view", view},
    {"aten.view_as", view_as},
};

}  // namespace

std::span<const AtenOp> aten_view() { return kAtenView; }

}  // namespace tw::frontends
