// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/frontends/onnx/limits.h"
#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

Results reshape(OnnxNode& n) {
  const int x = n.in(0);
  const Dims from = n.shape(x);
  Dims to = n.opset() < 5 ? n.integers("shape", {}) : n.integers_input(1, "the new shape");
  const bool keep_zero = n.integer("allowzero", 0) != 0;
  const int64_t total = n.type(x).num_elements();
  int64_t known = 1;
  std::optional<size_t> open;
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] == 0 && !keep_zero) {
      if (d >= from.size()) n.invalid(fmt::format("0 at position {} of {} has no dimension to copy from {}", d, shape_text(to), shape_text(from)));
      to[d] = from[d];
    }
    if (to[d] == -1) {
      if (open) n.invalid(fmt::format("expected at most one -1, found {}", shape_text(to)));
      open = d;
      continue;
    }
    if (to[d] < 0 || to[d] > (int64_t{1} << 40) / std::max<int64_t>(known, 1)) n.unsupported(fmt::format("shape {} for {} elements", shape_text(to), total));
    known *= to[d];
  }
  if (open && known == 0) n.invalid(fmt::format("shape {} leaves the extent of -1 open", shape_text(to)));
  if (open) to[*open] = total / known;
  if (known * (open ? to[*open] : 1) != total) n.invalid(fmt::format("{} elements of shape {} do not fit {}", total, shape_text(from), shape_text(to)));
  return {n.emit("reshape", {x}, attrs({{"shape", to}}))};
}

Results flatten(OnnxNode& n) {
  const int x = n.in(0);
  const int64_t axis = n.integer("axis", 1), rank = n.rank(x);
  if (axis < -rank || axis > rank) n.invalid(fmt::format("expected an axis in [{}, {}], found {}", -rank, rank, axis));
  Dims to{1, 1};
  for (int64_t d = 0; d < rank; ++d) to[d < (axis < 0 ? axis + rank : axis) ? 0 : 1] *= n.shape(x)[static_cast<size_t>(d)];
  return {n.emit("reshape", {x}, attrs({{"shape", to}}))};
}

Results squeeze(OnnxNode& n) {
  const int x = n.in(0);
  const auto given = n.integers_either("axes", 1, 13);
  const Dims axes = n.axes(given.value_or(Dims{}), n.rank(x));
  Dims to;
  for (int64_t d = 0; d < n.rank(x); ++d) {
    const int64_t extent = n.shape(x)[static_cast<size_t>(d)];
    const bool named = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (named && extent != 1) n.invalid(fmt::format("dimension {} of {} is not 1", d, shape_text(n.shape(x))));
    if (!(given ? named : extent == 1)) to.push_back(extent);
  }
  return {n.emit("reshape", {x}, attrs({{"shape", to}}))};
}

Results unsqueeze(OnnxNode& n) {
  const int x = n.in(0);
  const auto given = n.integers_either("axes", 1, 13);
  if (!given) n.invalid("the axes are required but absent");
  const int64_t rank = n.rank(x) + static_cast<int64_t>(given->size());
  if (rank > onnx_limits::kRank) n.unsupported(fmt::format("{} dimensions", rank));
  const Dims axes = n.axes(*given, rank);
  Dims to;
  size_t next = 0;
  for (int64_t d = 0; d < rank; ++d) to.push_back(std::find(axes.begin(), axes.end(), d) != axes.end() ? 1 : n.shape(x)[next++]);
  return {n.emit("reshape", {x}, attrs({{"shape", to}}))};
}

Results transpose(OnnxNode& n) {
  Dims perm;
  for (int64_t d = n.rank(n.in(0)); d-- > 0;) perm.push_back(d);
  return {n.transpose(n.in(0), n.integers("perm", perm))};
}

/// Empty operands add nothing; they occur among shapes that are put together.
Results concat(OnnxNode& n) {
  std::vector<int> inputs = n.all_inputs();
  const int first = inputs[0];
  std::erase_if(inputs, [&](int v) { return n.type(v).num_elements() == 0; });
  if (inputs.empty()) return {first};
  return {n.emit("concat", inputs, attrs({{"axis", n.axis(n.integer("axis", 1), n.rank(inputs[0]))}}))};
}

/// Sizes from the operand or attribute, or equal parts: as many as outputs, the last one smaller since opset 18.
Dims split_sizes(const OnnxNode& n, int64_t extent) {
  if (const auto given = n.integers_either("split", 1, 13)) return *given;
  const int64_t parts = n.opset() >= 18 && n.has_attr("num_outputs") ? n.integer("num_outputs", 1) : n.num_outputs();
  if (parts < 1 || parts > extent) n.invalid(fmt::format("{} elements do not split into {} parts", extent, parts));
  const int64_t each = (extent + parts - 1) / parts;
  if (extent % parts != 0 && n.opset() < 18) n.invalid(fmt::format("{} elements do not split into {} equal parts", extent, parts));
  Dims sizes(static_cast<size_t>(parts), each);
  sizes.back() = extent - each * (parts - 1);
  return sizes;
}

Results split(OnnxNode& n) {
  const int x = n.in(0);
  const int64_t axis = n.axis(n.integer("axis", 0), n.rank(x)), extent = n.shape(x)[static_cast<size_t>(axis)];
  const Dims sizes = split_sizes(n, extent);
  if (static_cast<int>(sizes.size()) != n.num_outputs()) n.invalid(fmt::format("{} sizes for {} outputs", sizes.size(), n.num_outputs()));
  Results out;
  int64_t from = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || size > extent - from) n.invalid(fmt::format("parts of sizes {} from {} elements", shape_text(sizes), extent));
    Dims part = n.shape(x);
    part[static_cast<size_t>(axis)] = size;
    out.push_back(size == 0 ? n.constant(HostArray::make(n.dtype(x), part)) : n.slice(x, axis, from, size));
    from += size;
  }
  if (from != extent) n.invalid(fmt::format("parts of sizes {} do not add up to {}", shape_text(sizes), extent));
  return out;
}

/// Operand-wise ranges of a Slice: everything but the named axes stays whole.
struct Ranges {
  Dims starts, ends, axes, steps;
};
Ranges slice_ranges(const OnnxNode& n, int64_t rank) {
  const bool operands = n.opset() >= 10;
  Ranges r;
  r.starts = operands ? n.integers_input(1, "the starts") : n.integers("starts", {});
  r.ends = operands ? n.integers_input(2, "the ends") : n.integers("ends", {});
  for (size_t k = 0; k < r.starts.size(); ++k) r.axes.push_back(static_cast<int64_t>(k));
  if (operands && n.has(3)) r.axes = n.integers_input(3, "the axes");
  if (!operands) r.axes = n.integers("axes", r.axes);
  r.steps = operands && n.has(4) ? n.integers_input(4, "the steps") : Dims(r.starts.size(), 1);
  if (r.ends.size() != r.starts.size() || r.axes.size() != r.starts.size() || r.steps.size() != r.starts.size())
    n.invalid("starts, ends, axes and steps differ in length");
  r.axes = n.axes(r.axes, rank);
  return r;
}

Results slice(OnnxNode& n) {
  const int x = n.in(0);
  const Ranges r = slice_ranges(n, n.rank(x));
  Dims sizes = n.shape(x), starts(sizes.size(), 0), steps(sizes.size(), 1);
  const auto from_end = [](int64_t p, int64_t extent) { return p < 0 ? p + extent : p; };
  for (size_t k = 0; k < r.axes.size(); ++k) {
    const auto d = static_cast<size_t>(r.axes[k]);
    const int64_t extent = n.shape(x)[d], step = r.steps[k];
    if (step == 0 || step == INT64_MIN) n.invalid(fmt::format("a step of {}", step));
    const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
    const int64_t start = std::clamp(from_end(r.starts[k], extent), step > 0 ? low : 0, high), end = std::clamp(from_end(r.ends[k], extent), low, high);
    const int64_t span = step > 0 ? end - start : start - end, stride = std::abs(step);
    starts[d] = start;
    steps[d] = std::clamp(step, -extent, extent);
    sizes[d] = span <= 0 ? 0 : (span - 1) / stride + 1;
  }
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return {n.constant(HostArray::make(n.dtype(x), sizes))};  // nothing is left to compute
  return {n.emit("slice", {x}, attrs({{"starts", starts}, {"steps", steps}, {"sizes", sizes}}))};
}

/// Negative amounts cut elements off; what remains is padded.
Results pad(OnnxNode& n) {
  int x = n.in(0);
  const auto rank = static_cast<size_t>(n.rank(x));
  const bool operands = n.opset() >= 11;
  Dims pads = operands ? n.integers_input(1, "the amounts of padding") : n.integers(n.opset() < 2 ? "paddings" : "pads", {});
  if (operands && n.has(3)) {
    const Dims axes = n.axes(n.integers_input(3, "the axes"), n.rank(x));
    if (pads.size() != 2 * axes.size()) n.invalid(fmt::format("expected {} amounts of padding, found {}", 2 * axes.size(), pads.size()));
    Dims all(2 * rank, 0);
    for (size_t k = 0; k < axes.size(); ++k) {
      all[static_cast<size_t>(axes[k])] = pads[k];
      all[static_cast<size_t>(axes[k]) + rank] = pads[k + axes.size()];
    }
    pads = all;
  }
  if (pads.size() != 2 * rank) n.invalid(fmt::format("expected {} amounts of padding, found {}", 2 * rank, pads.size()));
  const double value = operands ? (n.has(2) ? n.number_input(2, "the padding value") : 0.0) : n.real("value", 0);
  for (size_t d = 0; d < rank; ++d) {
    for (const int64_t p : {pads[d], pads[d + rank]})
      if (p < -(int64_t{1} << 31) || p > (int64_t{1} << 31)) n.invalid(fmt::format("padding of {} elements", p));
    const int64_t before = std::min<int64_t>(0, pads[d]), after = std::min<int64_t>(0, pads[d + rank]), left = n.shape(x)[d] + before + after;
    if (left < 1) n.unsupported(fmt::format("padding {} that leaves nothing of {}", shape_text(pads), shape_text(n.shape(x))));
    x = n.slice(x, static_cast<int64_t>(d), -before, left);
    pads[d] -= before;
    pads[d + rank] -= after;
  }
  graph::Attrs a = attrs({{"pads", pads}, {"mode", n.text("mode", "constant")}, {"value", value}});
  if (operands && n.has(2) && !n.dtype(x).is_float()) a.values["value"] = n.constant_input(2, "the padding value").get_int(0);
  return {n.emit("pad", {x}, std::move(a))};
}

Results expand(OnnxNode& n) {
  const Dims x = n.shape(n.in(0)), to = n.integers_input(1, "the shape");
  if (to.size() > onnx_limits::kRank) n.invalid("too many dimensions");
  const size_t rank = std::max(x.size(), to.size());
  Dims shape(rank, 1);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t a = d + x.size() < rank ? 1 : x[d + x.size() - rank], b = d + to.size() < rank ? 1 : to[d + to.size() - rank];
    shape[d] = a == 1 ? b : a;
    if (a != b && a != 1 && b != 1) n.invalid(fmt::format("shapes {} and {} do not broadcast", shape_text(x), shape_text(to)));
  }
  return {n.emit("broadcast_to", {n.in(0)}, attrs({{"shape", shape}}))};
}

Results tile(OnnxNode& n) {
  if (n.opset() < 6) n.unsupported("the form of opsets before 6");
  return {n.emit("tile", {n.in(0)}, attrs({{"repeats", n.integers_input(1, "the repeats")}}))};
}

/// Block size and data of rank 4, whose `divided` dimensions are multiples of what they are divided by.
int64_t block_size(const OnnxNode& n) {
  const int64_t b = n.integer("blocksize", 0);
  if (n.rank(n.in(0)) != 4 || b < 1 || b > (1 << 15))
    n.invalid(fmt::format("expected data of rank 4 and a block size of at least 1, found {} and {}", shape_text(n.shape(n.in(0))), b));
  return b;
}

Results depth_to_space(OnnxNode& n) {
  const int64_t b = block_size(n);
  const Dims s = n.shape(n.in(0));
  if (s[1] % (b * b) != 0) n.invalid(fmt::format("{} channels are no multiple of {}", s[1], b * b));
  const std::string mode = n.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") n.invalid("expected mode 'DCR' or 'CRD'");
  const int64_t c = s[1] / (b * b);
  const int parts = n.reshape(n.in(0), mode == "DCR" ? Dims{s[0], b, b, c, s[2], s[3]} : Dims{s[0], c, b, b, s[2], s[3]});
  return {n.emit("reshape", {n.transpose(parts, mode == "DCR" ? Dims{0, 3, 4, 1, 5, 2} : Dims{0, 1, 4, 2, 5, 3})},
                 attrs({{"shape", Dims{s[0], c, s[2] * b, s[3] * b}}}))};
}

Results space_to_depth(OnnxNode& n) {
  const int64_t b = block_size(n);
  const Dims s = n.shape(n.in(0));
  if (s[2] % b != 0 || s[3] % b != 0) n.invalid(fmt::format("{} is not a multiple of {} in its last dimensions", shape_text(s), b));
  const std::string mode = n.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") n.invalid("expected mode 'DCR' or 'CRD'");
  const int parts = n.reshape(n.in(0), {s[0], s[1], s[2] / b, b, s[3] / b, b});
  return {n.emit("reshape", {n.transpose(parts, mode == "DCR" ? Dims{0, 3, 5, 1, 2, 4} : Dims{0, 1, 3, 5, 2, 4})}, attrs({{"shape", Dims{s[0], s[1] * b * b, s[2] / b, s[3] / b}}}))};
}

constexpr OnnxOp kShapeOps[] = {
    {"Concat", concat, Narrow::moved},       {"DepthToSpace", depth_to_space, Narrow::moved}, {"Expand", expand, Narrow::moved}, {"Flatten", flatten, Narrow::moved}, {"Pad", pad, Narrow::moved},   {"Reshape", reshape, Narrow::moved},
    {"Slice", slice, Narrow::moved},         {"SpaceToDepth", space_to_depth, Narrow::moved}, {"Split", split, Narrow::moved},   {"Squeeze", squeeze, Narrow::moved}, {"Tile", tile, Narrow::moved}, {"Transpose", transpose, Narrow::moved},
    {"Unsqueeze", unsqueeze, Narrow::moved},
};

}  // namespace

std::span<const OnnxOp> onnx_ops_shape() { return kShapeOps; }

}  // namespace tw::frontends
