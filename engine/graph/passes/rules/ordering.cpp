// SPDX-License-Identifier: Apache-2.0
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

}  // namespace

std::span<const Rule> ordering() {
  static const std::array kRules = {
      Rule{"top_k_indices", sorted_in_stages, "On processors, many elements are sorted in stages rather than compared all with all"},
  };
  return kRules;
}

}  // namespace tw::graph::rules
