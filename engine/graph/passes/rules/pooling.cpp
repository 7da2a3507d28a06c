// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "engine/graph/passes/rules/rule.h"

namespace tw::graph::rules {

namespace {

using Dims = std::vector<int64_t>;

/// Along the last dimension of the window first, and then along the others: maxima of maxima, and means of means, since a window counts as many elements as there
/// are along each dimension, multiplied. Only where far fewer elements are met so, by what it takes to write the results in between.
Expected<Outcome> last_dimension_first(Site& s) {
  constexpr int64_t kWorth = 2;
  const Dims out = s.result().shape;
  const size_t spatial = out.size() - 2;
  const Dims kernel = s.draft().attrs.integers("kernel", Dims(spatial, 1));
  size_t last = spatial - 1;
  while (last > 0 && kernel[last] == 1) --last;
  Dims between = s.type(s.input(0)).shape;
  between[last + 2] = out[last + 2];
  const int64_t taps = product(kernel), met = product(between) * kernel[last] + product(out) * (taps / kernel[last]);
  if (s.target().gpu || product(out) * taps < kWorth * met) return nothing();
  Draft first = s.draft(), rest = s.draft();
  for (const char* name : {"kernel", "strides", "dilations", "pads"}) {
    const size_t ends = std::string_view(name) == "pads" ? 2 : 1;
    const int64_t none = ends == 2 ? 0 : 1;
    const Dims all = s.draft().attrs.integers(name, Dims(ends * spatial, none));
    Dims along_last(all.size(), none), along_others = all;
    for (size_t e = 0; e < ends; ++e) {
      along_last[e * spatial + last] = all[e * spatial + last];
      along_others[e * spatial + last] = none;
    }
    first.attrs.values[name] = along_last;
    rest.attrs.values[name] = along_others;
  }
  TW_TRY(const int columns, s.add_node(first, ".columns"));
  rest.inputs = {columns};
  return Outcome(std::move(rest));
}

}  // namespace

std::span<const Rule> pooling() {
  static const std::array kRules = {
      Rule{"max_pool2d max_pool3d avg_pool2d avg_pool3d", last_dimension_first, "On processors, large windows slide along one dimension after the other"},
  };
  return kRules;
}

}  // namespace tw::graph::rules
