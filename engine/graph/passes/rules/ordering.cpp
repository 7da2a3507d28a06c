// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "engine/graph/passes/rules/rule.h"

namespace tw::graph::rules {

namespace {

/// See ops::top_k. A GPU would wait for all threads after each of a hundred stages, and compares all elements with all others quickly.
Expected<Outcome> sorted_in_stages(Site& s) {
  if (s.target().gpu || s.draft().attrs.integer("sorted", 0) != 0) return nothing();
  Draft sorted = s.draft();
  sorted.attrs.values["sorted"] = int64_t{1};
  return Outcome(std::move(sorted));
}

/// Vectors run along the last dimension, however short it is: lines that lie beside each other become one dimension.
Expected<Outcome> lines_beside_each_other(Site& s) {
  const std::vector<int64_t> x = s.type(s.input(0)).shape, y = s.result().shape;
  const int64_t given = s.draft().attrs.integer("axis", s.draft().op == "top_k_indices" ? -1 : 0),
                axis = given < 0 ? given + static_cast<int64_t>(x.size()) : given;
  const auto behind = x.begin() + axis + 1;
  if (s.target().gpu || product(x) == 0 || std::count_if(behind, x.end(), [](int64_t n) { return n > 1; }) < 2) return nothing();
  const int64_t before = product({x.begin(), x.begin() + axis}), beside = product({behind, x.end()});
  TW_TRY(const int lines, s.reshaped(s.input(0), {before, x[static_cast<size_t>(axis)], beside}, ".lines"));
  Draft order = s.draft();
  order.inputs[0] = lines;
  order.attrs.values["axis"] = int64_t{1};
  TW_TRY(const int ordered, s.add_node(order, ".along"));
  return Outcome(reshape_of(ordered, y));
}

}  // namespace

std::span<const Rule> ordering() {
  static const std::array kRules = {
      Rule{"top_k_indices", sorted_in_stages, "On processors, many elements are sorted in stages rather than compared all with all"},
      Rule{"top_k_indices cumsum cumprod", lines_beside_each_other, "On processors, dimensions behind the one that is put in order or runs up are one"},
  };
  return kRules;
}

}  // namespace tw::graph::rules
