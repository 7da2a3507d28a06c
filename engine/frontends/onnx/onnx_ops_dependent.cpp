// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

namespace {

// Results whose shape depends on values: they are computed while importing, from operands that are known then.

using Results = std::vector<int>;

/// Operand `i`, whose values say how many entries the result has: `most` at most, but how many is needed here.
const HostArray& known(OnnxNode& n, int i, const char* what, int64_t most) {
  const int v = n.in(i);
  if (!n.constant_of(v))
    n.unsupported(fmt::format("{} is computed at run time, and the result has any number of entries up to {}; shapes must be known while importing. Where, or a product with the mask, "
                              "keeps the shape of what is selected from",
                              what, most));
  return *n.constant_of(v);
}

/// Positions of the elements that are not zero; only where the operand is known, because the result's shape depends on it.
Results non_zero(OnnxNode& n) {
  const HostArray& x = known(n, 0, "the operand", n.type(n.in(0)).num_elements());
  const auto rank = static_cast<int64_t>(x.shape.size());
  std::vector<int64_t> hits;
  for (int64_t i = 0; i < x.num_elements(); ++i)
    if (x.get(i) != 0) hits.push_back(i);
  const auto count = static_cast<int64_t>(hits.size());
  HostArray out = HostArray::make(kInt64, {rank, count});
  for (int64_t h = 0; h < count; ++h) {
    int64_t rest = hits[static_cast<size_t>(h)];
    for (int64_t d = rank; d-- > 0;) {
      out.set_int(d * count + h, rest % x.shape[static_cast<size_t>(d)]);
      rest /= x.shape[static_cast<size_t>(d)];
    }
  }
  return {n.constant(std::move(out))};
}

/// Elements where the condition holds; only for conditions that are known, because the result's shape depends on them.
Results compress(OnnxNode& n) {
  const HostArray& condition = known(n, 1, "the condition", n.type(n.in(1)).num_elements());
  int x = n.in(0);
  if (!n.has_attr("axis")) x = n.reshape(x, {n.type(x).num_elements()});
  const int64_t axis = n.axis(n.integer("axis", 0), n.rank(x)), extent = n.shape(x)[static_cast<size_t>(axis)];
  Dims kept;
  for (int64_t i = 0; i < std::min(extent, condition.num_elements()); ++i)
    if (condition.get_int(i) != 0) kept.push_back(i);
  return {n.emit("gather", {x, n.integers_constant(kept)}, attrs({{"axis", axis}}))};
}

/// One entry a slice along `axis`, or an element without it: the values as one list of numbers that compares like the slice.
std::vector<std::vector<double>> slices_of(const HostArray& x, int64_t axis) {
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < axis; ++d) outer *= x.shape[static_cast<size_t>(d)];
  for (size_t d = static_cast<size_t>(axis) + 1; d < x.shape.size(); ++d) inner *= x.shape[d];
  const int64_t extent = x.shape[static_cast<size_t>(axis)];
  std::vector<std::vector<double>> out(static_cast<size_t>(extent));
  for (int64_t i = 0; i < extent; ++i)
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t k = 0; k < inner; ++k) out[static_cast<size_t>(i)].push_back(x.get((o * extent + i) * inner + k));
  return out;
}

/// Distinct slices in order, where each is first, which one stands for each, and how many there are of it.
Results unique(OnnxNode& n) {
  known(n, 0, "the operand", n.type(n.in(0)).num_elements());
  int x = n.in(0);
  if (!n.has_attr("axis")) x = n.reshape(x, {n.type(x).num_elements()});
  const int64_t axis = n.has_attr("axis") ? n.axis(n.integer("axis", 0), n.rank(x)) : 0;
  const std::vector<std::vector<double>> slices = slices_of(*n.constant_of(x), axis);
  std::map<std::vector<double>, int64_t> index;
  std::vector<std::pair<std::vector<double>, int64_t>> found;  // a slice and its first place
  for (size_t i = 0; i < slices.size(); ++i)
    if (index.emplace(slices[i], 0).second) found.emplace_back(slices[i], static_cast<int64_t>(i));
  if (n.integer("sorted", 1)) std::sort(found.begin(), found.end());
  Dims first, counts(found.size(), 0), inverse;
  for (size_t k = 0; k < found.size(); ++k) {
    index[found[k].first] = static_cast<int64_t>(k);
    first.push_back(found[k].second);
  }
  for (const std::vector<double>& s : slices) {
    inverse.push_back(index[s]);
    ++counts[static_cast<size_t>(index[s])];
  }
  const int places = n.integers_constant(first);
  return {n.emit("gather", {x, places}, attrs({{"axis", axis}})), places, n.integers_constant(inverse), n.integers_constant(counts)};
}

struct Box {
  double low_y, low_x, high_y, high_x;
  double area() const { return (high_y - low_y) * (high_x - low_x); }
};

Box box_at(const HostArray& boxes, int64_t at, bool centred) {
  const double a = boxes.get(at), b = boxes.get(at + 1), c = boxes.get(at + 2), d = boxes.get(at + 3);
  if (centred) return {b - d / 2, a - c / 2, b + d / 2, a + c / 2};
  return {std::min(a, c), std::min(b, d), std::max(a, c), std::max(b, d)};
}

/// Shared area over covered area.
double overlap(const Box& a, const Box& b) {
  const double height = std::min(a.high_y, b.high_y) - std::max(a.low_y, b.low_y), width = std::min(a.high_x, b.high_x) - std::max(a.low_x, b.low_x);
  if (height <= 0 || width <= 0) return 0;
  const double shared = height * width;
  return shared / (a.area() + b.area() - shared);
}

/// The best boxes of each class that overlap little with better ones. Source: NonMaxSuppression-11 in the ONNX operator reference.
Results non_max_suppression(OnnxNode& n) {
  const int64_t places = n.type(n.in(1)).num_elements();
  const HostArray &boxes = known(n, 0, "the list of boxes", places), &scores = known(n, 1, "the list of scores", places);
  if (boxes.shape.size() != 3 || scores.shape.size() != 3 || boxes.shape[2] != 4 || boxes.shape[0] != scores.shape[0] || boxes.shape[1] != scores.shape[2])
    n.invalid(fmt::format("boxes {} and scores {} do not fit together", shape_text(boxes.shape), shape_text(scores.shape)));
  const double most = n.has(2) ? n.number_input(2, "the number of boxes") : 0, threshold = n.has(3) ? n.number_input(3, "the threshold of overlap") : 0;
  const bool centred = n.integer("center_point_box", 0) != 0;
  const int64_t count = boxes.shape[1], classes = scores.shape[1];
  Dims chosen;
  for (int64_t s = 0; s < scores.shape[0] * classes; ++s) {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < count; ++i)
      if (!n.has(4) || scores.get(s * count + i) > n.number_input(4, "the threshold of scores")) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return scores.get(s * count + a) > scores.get(s * count + b); });
    std::vector<Box> kept;
    for (const int64_t i : order) {
      if (static_cast<double>(kept.size()) >= most) break;
      const Box box = box_at(boxes, (s / classes * count + i) * 4, centred);
      if (std::any_of(kept.begin(), kept.end(), [&](const Box& k) { return overlap(box, k) > threshold; })) continue;
      kept.push_back(box);
      for (const int64_t v : {s / classes, s % classes, i}) chosen.push_back(v);
    }
  }
  return {n.reshape(n.integers_constant(chosen), {static_cast<int64_t>(chosen.size()) / 3, 3})};
}

constexpr OnnxOp kDependentOps[] = {
    {"Compress", compress, Narrow::moved},
    {"NonMaxSuppression", non_max_suppression},
    {"NonZero", non_zero},
    {"Unique", unique},
};

}  // namespace

std::span<const OnnxOp> onnx_ops_dependent() { return kDependentOps; }

}  // namespace tw::frontends
