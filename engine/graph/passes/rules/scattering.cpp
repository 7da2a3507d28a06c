// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>

#include "engine/graph/passes/rules/rule.h"

/// Updates that land at places known beforehand. The operators themselves look through all updates for each element of the data; most networks assign to a part
/// of a tensor, which exporters write as indices of every element.
namespace tw::graph::rules {

namespace {

using Dims = std::vector<int64_t>;

/// Beyond that a table of places is not worth its memory.
constexpr int64_t kMostPlaces = int64_t{1} << 22;
/// Updates that are looked at: they may fill a box, which needs no table.
constexpr int64_t kMostUpdates = int64_t{1} << 24;

/// Where updates land: the data's first dimensions `outer` are places, taken in row-major order, and each update fills the dimensions `inner` of its own.
struct Landing {
  Dims outer, inner;
  int64_t updates;
  std::function<int64_t(int64_t)> place_of_update;
  std::vector<int64_t> places = {};  ///< of each update
};

/// As the operators read an index: negative ones count from the end, others are limited to the dimension.
int64_t place_of(int64_t i, int64_t extent) { return std::clamp(i < 0 ? i + extent : i, int64_t{0}, extent - 1); }

Dims coordinates(int64_t place, const Dims& shape) {
  Dims at(shape.size());
  for (size_t d = shape.size(); d-- > 0; place /= shape[d]) at[d] = place % shape[d];
  return at;
}

struct Box {
  Dims starts, sizes;
};
/// The box between the first and the last update, if there are as many as it has places.
std::optional<Box> box_between(const Landing& l) {
  Box b{coordinates(l.place_of_update(0), l.outer), {}};
  const Dims last = coordinates(l.place_of_update(l.updates - 1), l.outer);
  for (size_t d = 0; d < last.size(); ++d) {
    if (last[d] < b.starts[d]) return std::nullopt;
    b.sizes.push_back(last[d] - b.starts[d] + 1);
  }
  return product(b.sizes) == l.updates ? std::optional(b) : std::nullopt;
}

/// The box that the updates fill in its row-major order, if they do.
std::optional<Box> box_of(const Landing& l) {
  const std::optional<Box> between = box_between(l);
  if (!between) return std::nullopt;
  const Box& b = *between;
  for (size_t u = 0; u < l.places.size(); ++u) {
    const Dims inside = coordinates(static_cast<int64_t>(u), b.sizes);
    int64_t place = 0;
    for (size_t d = 0; d < inside.size(); ++d) place = place * l.outer[d] + b.starts[d] + inside[d];
    if (place != l.places[u]) return std::nullopt;
  }
  return b;
}

Dims joined(Dims a, const Dims& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Draft slice_of(int v, const Dims& starts, const Dims& sizes) { return {"slice", {v}, Attrs{{{"starts", starts}, {"sizes", sizes}}}}; }
/// The name of the operator that combines data and update; empty where the update replaces the data.
std::string combination(const Site& s) {
  const std::string r = s.draft().attrs.text("reduction", "none");
  return r == "none" ? std::string() : r;
}

/// A box of updates between what is left of the data on either side, dimension after dimension.
Expected<Outcome> placed_box(Site& s, const Landing& l, const Box& box) {
  Dims starts = joined(box.starts, Dims(l.inner.size(), 0)), sizes = joined(box.sizes, l.inner);
  const Dims& shape = s.result().shape;
  TW_TRY(int v, s.reshaped(s.input(2), sizes, ".updates"));
  if (const std::string op = combination(s); !op.empty()) {
    TW_TRY(const int old, s.add_node(slice_of(s.input(0), starts, sizes), ".old"));
    TW_TRY(v, s.add_node({op, {old, v}}, ".combined"));
  }
  for (size_t d = box.sizes.size(); d-- > 0;) {
    if (sizes[d] == shape[d]) continue;
    const int64_t from = starts[d], size = sizes[d], end = from + size;
    std::vector<int> parts;
    const auto add_rest = [&](int64_t begin, int64_t count) -> Expected<void> {
      if (count == 0) return {};
      starts[d] = begin;
      sizes[d] = count;
      TW_TRY(const int part, s.add_node(slice_of(s.input(0), starts, sizes), ".rest"));
      parts.push_back(part);
      return {};
    };
    TW_CHECK(add_rest(0, from));
    parts.push_back(v);
    TW_CHECK(add_rest(end, shape[d] - end));
    starts[d] = 0;
    sizes[d] = shape[d];
    TW_TRY(v, s.add_node({"concat", parts, Attrs{{{"axis", static_cast<int64_t>(d)}}}}, ".placed"));
  }
  return Outcome(reshape_of(v, shape));
}

/// Every place reads the update that lands there last, if one does.
Expected<Outcome> placed_by_table(Site& s, const Landing& l) {
  const int64_t places = product(l.outer);
  std::vector<int64_t> update(static_cast<size_t>(places), -1);
  bool once = true;
  for (size_t u = 0; u < l.places.size(); ++u) {
    int64_t& at = update[static_cast<size_t>(l.places[u])];
    once = once && at < 0;
    at = static_cast<int64_t>(u);
  }
  const std::string op = combination(s);
  if (!once && !op.empty()) return nothing();
  HostArray table = HostArray::make(kInt32, {places}), hit = HostArray::make(kBool, joined(l.outer, Dims(l.inner.size(), 1)));
  for (int64_t i = 0; i < places; ++i) {
    table.set_int(i, std::max<int64_t>(0, update[static_cast<size_t>(i)]));
    hit.set_int(i, update[static_cast<size_t>(i)] >= 0);
  }
  TW_TRY(const int rows, s.reshaped(s.input(2), joined({static_cast<int64_t>(l.places.size())}, l.inner), ".updates"));
  TW_TRY(const int gathered, s.add_node({"gather", {rows, s.add_constant(std::move(table))}, Attrs{{{"axis", int64_t{0}}}}}, ".gathered"));
  TW_TRY(int v, s.reshaped(gathered, s.result().shape, ".placed"));
  if (!op.empty()) {
    TW_TRY(v, s.add_node({op, {s.input(0), v}}, ".combined"));
  }
  return Outcome(Draft{"where", {s.add_constant(std::move(hit)), v, s.input(0)}});
}

Expected<Outcome> placed(Site& s, Landing l) {
  if (l.updates == 0 || l.updates > kMostUpdates || s.result().dtype.is_bool()) return nothing();
  const bool table = std::max(product(l.outer), l.updates) <= kMostPlaces;
  if (!table && !box_between(l)) return nothing();
  l.places.reserve(static_cast<size_t>(l.updates));
  for (int64_t u = 0; u < l.updates; ++u) l.places.push_back(l.place_of_update(u));
  if (const auto box = box_of(l)) return placed_box(s, l, *box);
  return table ? placed_by_table(s, l) : nothing();
}

/// Each index of [..., q] names a place in the first q dimensions.
Expected<Outcome> scatter_nd_at_constants(Site& s) {
  const HostArray* indices = s.constant(s.input(1));
  if (!indices || indices->shape.back() == 0) return nothing();
  const Dims& shape = s.result().shape;
  const int64_t depth = indices->shape.back();
  const auto place = [&](int64_t update) {
    int64_t at = 0;
    for (int64_t q = 0; q < depth; ++q) {
      const int64_t extent = shape[static_cast<size_t>(q)];
      at = at * extent + place_of(indices->get_int(update * depth + q), extent);
    }
    return at;
  };
  return placed(s, {{shape.begin(), shape.begin() + depth}, {shape.begin() + depth, shape.end()}, indices->num_elements() / depth, place});
}

/// Each index replaces one coordinate of its own position.
Expected<Outcome> scatter_elements_at_constants(Site& s) {
  const HostArray* indices = s.constant(s.input(1));
  const Dims& shape = s.result().shape;
  if (!indices || shape.empty()) return nothing();
  const auto rank = static_cast<int64_t>(shape.size()), given = s.draft().attrs.integer("axis", 0);
  const auto axis = static_cast<size_t>(given < 0 ? given + rank : given);
  const auto place = [&](int64_t update) {
    Dims at = coordinates(update, indices->shape);
    at[axis] = place_of(indices->get_int(update), shape[axis]);
    int64_t to = 0;
    for (size_t d = 0; d < at.size(); ++d) to = to * shape[d] + at[d];
    return to;
  };
  return placed(s, {shape, {}, indices->num_elements(), place});
}

}  // namespace

std::span<const Rule> scattering() {
  static const std::array kRules = {
      Rule{"scatter_nd", scatter_nd_at_constants, "Updates at constant places are a concatenation, or are read from a table of places"},
      Rule{"scatter_elements", scatter_elements_at_constants, "Elements at constant places are a concatenation, or are read from a table of places"},
  };
  return kRules;
}

}  // namespace tw::graph::rules
