// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "engine/schedule/primitives/primitives.h"

namespace tw::schedule {

Expected<void> apply_reorder(State& s, const ReorderStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "reorder"));
  const size_t n = st->iters.size();
  std::vector<bool> seen(n, false);
  std::vector<Iter> out;
  for (const int i : p.order) {
    if (i < 0 || i >= static_cast<int>(n) || seen[static_cast<size_t>(i)])
      return Error(ErrorCode::invalid_argument,
                   fmt::format("Expected a permutation of the {} loops of stage '{}' for 'reorder', found index {}", n, st->op.name, i));
    seen[static_cast<size_t>(i)] = true;
    out.push_back(st->iters[static_cast<size_t>(i)]);
  }
  if (out.size() != n)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected all {} loops of stage '{}' for 'reorder', found {}", n, st->op.name, out.size()));
  st->iters = std::move(out);
  return {};
}

}  // namespace tw::schedule
