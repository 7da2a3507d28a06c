// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "engine/graph/op.h"
#include "engine/graph/passes/rules/rule.h"

namespace tw::graph::rules {

namespace {

using Dims = std::vector<int64_t>;

/// The operator leaves its first operand as it is.
Outcome identity_if(const Site& s, bool unchanged) { return unchanged ? Outcome(s.input(0)) : nothing(); }

Expected<Outcome> reshape_chain(Site& s) {
  if (s.type(s.input(0)).shape == s.result().shape) return Outcome(s.input(0));
  const Node* inner = s.made_by(s.input(0), "reshape");
  return inner ? Outcome(reshape_of(inner->inputs[0], s.result().shape)) : nothing();
}

Expected<Outcome> transpose_chain(Site& s) {
  const Dims& shape = s.type(s.input(0)).shape;
  const Dims outer = permutation(s.draft().attrs, shape.size());
  if (const Node* inner = s.made_by(s.input(0), "transpose")) {
    const Dims first = permutation(inner->attrs, shape.size());
    Dims both;
    for (const int64_t p : outer) both.push_back(first[static_cast<size_t>(p)]);
    return Outcome(Draft{"transpose", {inner->inputs[0]}, Attrs{{{"perm", both}}}});
  }
  Dims moved;  // dimensions of extent 1 hold no data: without them nothing may change places
  for (const int64_t p : outer)
    if (shape[static_cast<size_t>(p)] != 1) moved.push_back(p);
  return std::is_sorted(moved.begin(), moved.end()) ? Outcome(reshape_of(s.input(0), s.result().shape)) : nothing();
}

struct Range {
  Dims starts, steps, sizes;
  Attrs attrs() const { return Attrs{{{"starts", starts}, {"steps", steps}, {"sizes", sizes}}}; }
};
Range range_of(const Attrs& a, size_t rank) { return {a.integers("starts", Dims(rank, 0)), a.integers("steps", Dims(rank, 1)), a.integers("sizes", {})}; }

Expected<Outcome> slice_chain(Site& s) {
  const Dims& shape = s.type(s.input(0)).shape;
  Range outer = range_of(s.draft().attrs, shape.size());
  const bool from_zero = std::all_of(outer.starts.begin(), outer.starts.end(), [](int64_t d) { return d == 0; });
  if (outer.sizes == shape && from_zero) return Outcome(s.input(0));
  const Node* inner_node = s.made_by(s.input(0), "slice");
  if (!inner_node) return nothing();
  const Range inner = range_of(inner_node->attrs, shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    outer.starts[d] = inner.starts[d] + outer.starts[d] * inner.steps[d];
    outer.steps[d] *= inner.steps[d];
    if (outer.sizes[d] == 1) outer.steps[d] = 1;
  }
  return Outcome(Draft{"slice", {inner_node->inputs[0]}, outer.attrs()});
}

/// A slice that lies inside one operand of a concatenation reads that operand.
Expected<Outcome> slice_of_concat(Site& s) {
  const Node* concat = s.made_by(s.input(0), "concat");
  if (!concat) return nothing();
  const size_t rank = s.result().shape.size();
  const int64_t axis = concat->attrs.integer("axis", 0);
  const size_t a = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  Range r = range_of(s.draft().attrs, rank);
  const int64_t last = r.starts[a] + (r.sizes[a] - 1) * r.steps[a], low = std::min(r.starts[a], last), high = std::max(r.starts[a], last);
  int64_t begin = 0;
  for (const int v : concat->inputs) {
    const int64_t end = begin + s.type(v).shape[a];
    if (begin <= low && high < end) {
      r.starts[a] -= begin;
      return Outcome(Draft{"slice", {v}, r.attrs()});
    }
    begin = end;
  }
  return nothing();
}

/// Neighbouring slices of one value side by side are one slice.
Expected<Outcome> concat_of_slices(Site& s) {
  if (s.draft().inputs.size() == 1) return Outcome(s.input(0));
  const size_t rank = s.result().shape.size();
  const int64_t axis = s.draft().attrs.integer("axis", 0);
  const size_t a = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  int source = -1;
  Range whole;
  for (const int v : s.draft().inputs) {
    const Node* slice = s.made_by(v, "slice");
    if (!slice || (source >= 0 && slice->inputs[0] != source)) return nothing();
    Range r = range_of(slice->attrs, rank);
    if (r.steps[a] != 1) return nothing();
    if (source < 0) {
      source = slice->inputs[0];
      whole = r;
      continue;
    }
    if (r.starts[a] != whole.starts[a] + whole.sizes[a]) return nothing();
    const int64_t joined = whole.sizes[a] + r.sizes[a];
    r.starts[a] = whole.starts[a];
    r.sizes[a] = whole.sizes[a];
    if (r.starts != whole.starts || r.steps != whole.steps || r.sizes != whole.sizes) return nothing();
    whole.sizes[a] = joined;
  }
  return Outcome(Draft{"slice", {source}, whole.attrs()});
}

Expected<Outcome> empty_pad(Site& s) { return identity_if(s, s.type(s.input(0)).shape == s.result().shape); }

/// Zeros around an image before a convolution are what its own padding is.
Expected<Outcome> pad_before_convolution(Site& s) {
  const Node* pad = s.made_by(s.input(0), "pad");
  if (!pad || pad->attrs.text("mode", "constant") != "constant" || pad->attrs.real("value", 0) != 0) return nothing();
  const size_t rank = s.type(s.input(0)).shape.size(), spatial = rank - 2;
  const Dims around = pad->attrs.integers("pads", Dims(2 * rank, 0));
  Dims own = s.draft().attrs.integers("pads", Dims(2 * spatial, 0));
  for (const size_t end : {size_t{0}, rank})
    if (around[end] != 0 || around[end + 1] != 0) return nothing();
  for (const int64_t p : around)
    if (p < 0) return nothing();
  for (size_t d = 0; d < spatial; ++d) {
    own[d] += around[d + 2];
    own[d + spatial] += around[d + 2 + rank];
  }
  Draft d = s.draft();
  d.inputs[0] = pad->inputs[0];
  d.attrs.values["pads"] = own;
  return Outcome(d);
}

/// Indices that are constants one after another are a slice, which fuses and needs no reading of indices.
Expected<Outcome> gather_of_run(Site& s) {
  const HostArray* indices = s.constant(s.input(1));
  const Dims& shape = s.type(s.input(0)).shape;
  if (!indices || indices->shape.size() > 1) return nothing();
  const int64_t rank = static_cast<int64_t>(shape.size()), given = s.draft().attrs.integer("axis", 0), axis = given < 0 ? given + rank : given;
  const int64_t extent = shape[static_cast<size_t>(axis)], n = indices->num_elements();
  const auto at = [&](int64_t i) {
    const int64_t p = indices->get_int(i);
    return std::clamp(p < 0 ? p + extent : p, int64_t{0}, extent - 1);
  };
  const int64_t step = n > 1 ? at(1) - at(0) : 1;
  if (step == 0) return nothing();
  for (int64_t i = 1; i < n; ++i)
    if (at(i) - at(i - 1) != step) return nothing();
  Range r{Dims(shape.size(), 0), Dims(shape.size(), 1), shape};
  r.starts[static_cast<size_t>(axis)] = at(0);
  r.steps[static_cast<size_t>(axis)] = step;
  r.sizes[static_cast<size_t>(axis)] = n;
  const Draft slice{"slice", {s.input(0)}, r.attrs()};
  if (!indices->shape.empty()) return Outcome(slice);
  TW_TRY(const int sliced, s.add_node(slice, ".slice"));
  return Outcome(reshape_of(sliced, s.result().shape));
}

Expected<Outcome> reduction_over_one(Site& s) {
  const Dims& shape = s.type(s.input(0)).shape;
  Dims axes = s.draft().attrs.integers("axes", {});
  if (axes.empty())
    for (size_t d = 0; d < shape.size(); ++d) axes.push_back(static_cast<int64_t>(d));
  for (const int64_t a : axes)
    if (shape[static_cast<size_t>(a < 0 ? a + static_cast<int64_t>(shape.size()) : a)] != 1) return nothing();
  return Outcome(reshape_of(s.input(0), s.result().shape));
}

/// Operators that broadcast need no operand broadcast ahead of them.
Expected<Outcome> broadcast_before_broadcast(Site& s) {
  Draft d = s.draft();
  bool changed = false;
  for (size_t i = 0; i < d.inputs.size(); ++i) {
    const Node* b = s.made_by(d.inputs[i], "broadcast_to");
    if (!b) continue;
    Dims common;  // of all operands, this one as it was before
    for (size_t k = 0; k < d.inputs.size(); ++k) {
      const Dims& shape = s.type(k == i ? b->inputs[0] : d.inputs[k]).shape;
      if (shape.size() > common.size()) common.insert(common.begin(), shape.size() - common.size(), 1);
      for (size_t e = 0; e < shape.size(); ++e) {
        int64_t& c = common[common.size() - shape.size() + e];
        c = std::max(c, shape[e]);
      }
    }
    if (common != s.result().shape) continue;
    d.inputs[i] = b->inputs[0];
    changed = true;
  }
  return changed ? Outcome(d) : nothing();
}

Expected<Outcome> where_of_equals(Site& s) { return s.input(1) == s.input(2) && s.type(s.input(1)) == s.result() ? Outcome(s.input(1)) : nothing(); }

/// Every value of type `from` is one of type `to`.
bool keeps_all_values(DType from, DType to) {
  if (from == to || from.is_bool()) return true;
  if (to.is_bool()) return false;
  const auto digits = [](DType t) {
    return !t.is_float() ? t.bits - (t.is_signed() ? 1 : 0) : t == kBFloat16 ? 8 : t.bits == 16 ? 11 : t.bits == 32 ? 24 : 53;
  };
  if (from.is_float()) return to.is_float() && digits(to) >= digits(from) && to.bits > from.bits;
  if (to.is_float()) return digits(to) >= digits(from) && to.bits >= 32;
  return digits(to) >= digits(from) && (to.is_signed() || !from.is_signed());
}

Expected<Outcome> cast_chain(Site& s) {
  if (s.type(s.input(0)).dtype == s.result().dtype) return Outcome(s.input(0));
  const Node* inner = s.made_by(s.input(0), "cast");
  if (!inner || !keeps_all_values(s.type(inner->inputs[0]).dtype, s.type(s.input(0)).dtype)) return nothing();
  return Outcome(Draft{"cast", {inner->inputs[0]}, s.draft().attrs});
}

}  // namespace

std::span<const Rule> movement() {
  static const std::array kRules = {
      Rule{"reshape", reshape_chain, "A reshape of a reshape is one; one to the same shape is none"},
      Rule{"transpose", transpose_chain, "A transposition of a transposition is one; one that moves no data is a reshape"},
      Rule{"slice", slice_chain, "A slice of a slice is one; the whole is no slice"},
      Rule{"slice", slice_of_concat, "A slice inside one operand of a concatenation reads that operand"},
      Rule{"concat", concat_of_slices, "Neighbouring slices side by side are one slice; one operand alone is itself"},
      Rule{"pad broadcast_to tile", empty_pad, "Padding by nothing, and broadcasting to the same shape, does nothing"},
      Rule{"conv1d conv2d conv3d", pad_before_convolution, "Zeros put around the operand of a convolution are its own padding"},
      Rule{"gather", gather_of_run, "Constant indices at equal distances are a slice"},
      Rule{"reduce_sum reduce_prod reduce_max reduce_min reduce_mean", reduction_over_one, "Reducing dimensions of extent 1 moves no data"},
      Rule{"add sub mul div max min pow equal not_equal less less_equal and or xor where", broadcast_before_broadcast, "Operators broadcast by themselves"},
      Rule{"where", where_of_equals, "A choice between equals is no choice"},
      Rule{"cast", cast_chain, "A cast through a type that keeps all values is one; one to the same type is none"},
  };
  return kRules;
}

}  // namespace tw::graph::rules
