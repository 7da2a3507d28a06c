// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

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

}  // namespace

const PrimitiveOf<ReorderStep>& ReorderStep::primitive() {
  static const PrimitiveOf<ReorderStep> row{
      .about = {.code = "RE",
                .words = {{"reorder", "Changes the nesting order of a stage's loops, and with it which data is reused while it is near.", kHalide}},
                .random = [](const Draw& d) -> Step {
                  ReorderStep step{d.stage, {}};
                  for (size_t k = 0; k < d.at().iters.size(); ++k) step.order.push_back(static_cast<int>(k));
                  for (size_t k = step.order.size(); k-- > 1;) std::swap(step.order[k], step.order[d.rng.uniform(k + 1)]);
                  return step;
                },
                .share = 2},
      .json = in_order<&ReorderStep::stage, &ReorderStep::order>(),
      .apply = apply_reorder,
      .describe = [](const ReorderStep& s, const Names& n) {
        return fmt::format("reorder({}, {})", n.stage(s.stage), fmt::join(n.loops(s.stage, s.order), ", "));
      }};
  return row;
}

}  // namespace tw::schedule
