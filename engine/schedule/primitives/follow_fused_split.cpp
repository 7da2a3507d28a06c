// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

Expected<void> apply_follow_fused_split(State& s, const FollowFusedSplitStep& p) {
  if (p.sources.empty()) return Error(ErrorCode::invalid_argument, "Expected at least one split for 'follow_fused_split', found none");
  int64_t product = 1;
  for (const int source : p.sources) {
    TW_TRY(const std::vector<int64_t> followed, split_lengths(s, source, "follow_fused_split"));
    if (p.level < 0 || p.level >= static_cast<int>(followed.size()))
      return Error(ErrorCode::invalid_argument, fmt::format("Expected a length below {} for 'follow_fused_split', found {}", followed.size(), p.level));
    const int64_t length = followed[static_cast<size_t>(p.level)];
    if (length > kMaxExtent / product) return Error(ErrorCode::invalid_argument, "Expected lengths whose product is at most 2^48 for 'follow_fused_split'");
    product *= length;
  }
  TW_TRY(const Stage* st, computed_stage(s, p.stage, "follow_fused_split"));
  if (!p.from_inside && p.iter >= 0 && p.iter < static_cast<int>(st->iters.size())) product = (st->iters[static_cast<size_t>(p.iter)].extent - 1) / product + 1;
  return split_loop(s, p.stage, p.iter, {product}, "follow_fused_split");
}

}  // namespace

const PrimitiveOf<FollowFusedSplitStep>& FollowFusedSplitStep::primitive() {
  static const PrimitiveOf<FollowFusedSplitStep> row{
      .about = {.code = "FFSP",
                .words = {{"follow_fused_split",
                           "Cuts a loop by the product of lengths that earlier splits have: a copy is spread over as many threads as the tiles are.", kAnsor}},
                .random = [](const Draw& d) -> Step {
                  FollowFusedSplitStep step{d.stage, d.loop(), {d.split()}, d.below(2), d.rng.uniform(3) != 0};
                  if (d.rng.uniform(2)) step.sources.push_back(d.split());
                  return step;
                }},
      .json = {[](StepWriter& write, const FollowFusedSplitStep& s) { write(s.stage, s.iter, s.sources, s.level, s.from_inside ? 1 : 0); },
               [](StepReader& read) -> Expected<FollowFusedSplitStep> {
                 FollowFusedSplitStep s;
                 int from_inside = 1;
                 read(s.stage);
                 read(s.iter);
                 read(s.sources);
                 read(s.level);
                 read(from_inside);
                 s.from_inside = from_inside != 0;
                 return s;
               }},
      .apply = apply_follow_fused_split,
      .describe = [](const FollowFusedSplitStep& s, const Names& n) {
        return fmt::format("follow_fused_split({}, {}, steps=[{}], level={}, {})", n.stage(s.stage), n.loop(s.stage, s.iter), fmt::join(s.sources, ", "),
                           s.level, s.from_inside ? "factor" : "parts");
      }};
  return row;
}

}  // namespace tw::schedule
