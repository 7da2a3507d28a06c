// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

Expected<void> apply_follow_split(State& s, const FollowSplitStep& p) {
  TW_TRY(const std::vector<int64_t> followed, split_lengths(s, p.source, "follow_split"));
  if (p.parts < 1 || p.parts > static_cast<int>(followed.size()) + 1)
    return Error(ErrorCode::invalid_argument,
                 fmt::format("Expected 1 to {} lengths for 'follow_split' of a split with {}, found {}", followed.size() + 1, followed.size(), p.parts));
  std::vector<int64_t> lengths(followed.begin(), followed.begin() + p.parts - 1);
  lengths.push_back(1);
  for (size_t k = static_cast<size_t>(p.parts) - 1; k < followed.size(); ++k) lengths.back() *= followed[k];
  return split_loop(s, p.stage, p.iter, lengths, "follow_split");
}

}  // namespace

const PrimitiveOf<FollowSplitStep>& FollowSplitStep::primitive() {
  static const PrimitiveOf<FollowSplitStep> row{
      .about = {.code = "FSP",
                .words = {{"follow_split",
                           "Cuts a loop into pieces as an earlier split did another stage's, so that both keep the same tiles whatever their lengths are.",
                           kAnsor}},
                .random = [](const Draw& d) -> Step {
                  return FollowSplitStep{d.stage, d.loop(), d.split(), static_cast<int>(d.rng.range(1, 3))};
                },
                .share = 2},
      .json = in_order<&FollowSplitStep::stage, &FollowSplitStep::iter, &FollowSplitStep::source, &FollowSplitStep::parts>(),
      .apply = apply_follow_split,
      .describe = [](const FollowSplitStep& s, const Names& n) {
        return fmt::format("follow_split({}, {}, step={}, lengths={})", n.stage(s.stage), n.loop(s.stage, s.iter), s.source, s.parts);
      }};
  return row;
}

}  // namespace tw::schedule
