// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "engine/schedule/primitives/primitives.h"

namespace tw::schedule {

Expected<void> apply_split(State& s, const SplitStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "split"));
  if (p.iter < 0 || p.iter >= static_cast<int>(st->iters.size()))
    return Error(ErrorCode::invalid_argument,
                 fmt::format("Expected a loop below {} of stage '{}' for 'split', found {}", st->iters.size(), st->op.name, p.iter));
  if (p.lengths.empty()) return Error(ErrorCode::invalid_argument, "Expected at least one length for 'split', found none");
  const Iter old = st->iters[static_cast<size_t>(p.iter)];
  if (old.annotation != Annotation::none)
    return Error(ErrorCode::illegal_schedule,
                 fmt::format("Expected a loop without annotation for 'split', found '{}' of stage '{}'", old.var->name, st->op.name));
  int64_t inner = 1;
  for (const int64_t l : p.lengths) {
    if (l < 1) return Error(ErrorCode::invalid_argument, fmt::format("Expected lengths of at least 1 for 'split', found {}", l));
    if (l > kMaxExtent / inner)
      return Error(ErrorCode::invalid_argument, fmt::format("Expected lengths whose product is at most 2^48 for 'split' of '{}'", old.var->name));
    inner *= l;
  }
  SplitRelation relation{old.var, {}, p.lengths};
  std::vector<Iter> made;
  const int64_t outer = (old.extent - 1) / inner + 1;
  for (size_t k = 0; k <= p.lengths.size(); ++k) {
    const int64_t extent = k == 0 ? outer : p.lengths[k - 1];
    made.push_back({ir::make_var(fmt::format("{}_{}", old.var->name, k)), extent, old.kind});
    relation.children.push_back(made.back().var);
  }
  const auto at = st->iters.begin() + p.iter;
  st->iters.insert(st->iters.erase(at), made.begin(), made.end());
  st->relations.push_back(std::move(relation));
  return {};
}

}  // namespace tw::schedule
