// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

namespace {

// Sequences and optional values exist while importing alone: what is done with them is known then, and only their tensors are left.

using Results = std::vector<int>;

Results sequence_of(OnnxNode& n, std::vector<int> items) { return {n.importer().sequence(std::move(items))}; }

/// A position, negative ones from the end; `extent` itself if `past_end`.
size_t position(OnnxNode& n, int i, size_t extent, bool past_end) {
  const double given = n.number_input(i, "the position");
  const auto size = static_cast<double>(extent), p = given < 0 ? given + size : given;
  if (!(p >= 0 && p < size + (past_end ? 1 : 0))) n.invalid(fmt::format("position {} in a sequence of {}", given, extent));
  return static_cast<size_t>(p);
}

Results sequence_construct(OnnxNode& n) { return sequence_of(n, n.all_inputs()); }
Results sequence_empty(OnnxNode& n) { return sequence_of(n, {}); }
Results sequence_at(OnnxNode& n) {
  const std::vector<int> items = n.sequence(0);
  return {items[position(n, 1, items.size(), false)]};
}
Results sequence_insert(OnnxNode& n) {
  std::vector<int> items = n.sequence(0);
  const size_t at = n.has(2) ? position(n, 2, items.size(), true) : items.size();
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), n.in(1));
  return sequence_of(n, std::move(items));
}
Results sequence_erase(OnnxNode& n) {
  std::vector<int> items = n.sequence(0);
  if (items.empty()) n.invalid("nothing to erase");
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(n.has(1) ? position(n, 1, items.size(), false) : items.size() - 1));
  return sequence_of(n, std::move(items));
}
Results sequence_length(OnnxNode& n) { return {n.reshape(n.integers_constant({static_cast<int64_t>(n.sequence(0).size())}), {})}; }

Results concat_from_sequence(OnnxNode& n) {
  const std::vector<int> items = n.sequence(0);
  if (items.empty()) n.invalid("no tensors to put together");
  const bool fresh = n.integer("new_axis", 0) != 0;
  const int64_t axis = n.axis(n.integer("axis", 0), n.rank(items[0]) + (fresh ? 1 : 0));
  return {fresh ? n.stack(items, axis) : n.concat(items, axis)};
}

/// Parts of the given sizes, or of one size each; without sizes single slices, whose dimension `keepdims` keeps.
Results split_to_sequence(OnnxNode& n) {
  const int x = n.in(0);
  const int64_t axis = n.axis(n.integer("axis", 0), n.rank(x)), extent = n.shape(x)[static_cast<size_t>(axis)];
  Dims sizes;
  if (n.has(1) && n.rank(n.in(1)) == 1) {
    sizes = n.integers_input(1, "the sizes");
  } else {
    const int64_t each = n.has(1) ? static_cast<int64_t>(n.number_input(1, "the size")) : 1;
    if (each < 1) n.invalid(fmt::format("parts of {} elements", each));
    for (int64_t from = 0; from < extent; from += each) sizes.push_back(std::min(each, extent - from));
  }
  const bool drop = !n.has(1) && n.integer("keepdims", 1) == 0;
  std::vector<int> parts;
  int64_t from = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || size > extent - from) n.invalid(fmt::format("parts of sizes {} from {} elements", shape_text(sizes), extent));
    parts.push_back(drop ? n.select(x, axis, from) : n.slice(x, axis, from, size));
    from += size;
  }
  if (from != extent) n.invalid(fmt::format("parts of sizes {} do not add up to {}", shape_text(sizes), extent));
  return sequence_of(n, std::move(parts));
}

/// The body once for each element; operands that are no sequences are the same every time.
Results sequence_map(OnnxNode& n) {
  const onnx::GraphProto& body = n.subgraph("body");
  const size_t length = n.sequence(0).size();
  std::vector<std::vector<int>> results(static_cast<size_t>(body.output_size()));
  for (size_t i = 0; i < length; ++i) {
    std::vector<int> operands;
    for (int k = 0; k < n.num_inputs(); ++k) {
      const bool one = n.any(k) >= 0;
      if (!one && n.sequence(k).size() != length) n.invalid(fmt::format("sequences of {} and {} elements", length, n.sequence(k).size()));
      operands.push_back(one ? n.in(k) : n.sequence(k)[i]);
    }
    const Results out = n.importer().inline_graph(body, n.scope(), operands);
    for (size_t k = 0; k < results.size(); ++k) results[k].push_back(out[k]);
  }
  Results sequences;
  for (std::vector<int>& r : results) sequences.push_back(n.importer().sequence(std::move(r)));
  return sequences;
}

Results optional(OnnxNode& n) { return {n.has(0) ? n.any(0) : kNothing}; }
Results optional_get_element(OnnxNode& n) {
  if (!n.has(0) || n.any(0) == kNothing) n.invalid("the optional value holds nothing");
  return {n.any(0)};
}
Results optional_has_element(OnnxNode& n) { return {n.filled(kBool, {}, n.has(0) && n.any(0) != kNothing ? 1 : 0)}; }

constexpr OnnxOp kSequenceOps[] = {
    {"ConcatFromSequence", concat_from_sequence},
    {"Optional", optional, Narrow::taken},
    {"OptionalGetElement", optional_get_element, Narrow::moved},
    {"OptionalHasElement", optional_has_element, Narrow::taken},
    {"SequenceAt", sequence_at},
    {"SequenceConstruct", sequence_construct},
    {"SequenceEmpty", sequence_empty},
    {"SequenceErase", sequence_erase},
    {"SequenceInsert", sequence_insert},
    {"SequenceLength", sequence_length},
    {"SequenceMap", sequence_map},
    {"SplitToSequence", split_to_sequence},
};

}  // namespace

std::span<const OnnxOp> onnx_ops_sequence() { return kSequenceOps; }

}  // namespace tw::frontends
