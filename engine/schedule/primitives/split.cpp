// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

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

}  // namespace

const PrimitiveOf<SplitStep>& SplitStep::primitive() {
  static const PrimitiveOf<SplitStep> row{
      .about = {.code = "SP",
                .words = {{"split",
                           "Cuts a loop into an outer loop and inner loops of fixed length. Where the length does not divide the extent, a guard "
                           "skips the surplus iterations.",
                           kHalide}},
                .random = [](const Draw& d) -> Step {
                  SplitStep step{d.stage, d.loop(), 0, {d.rng.range(1, 5)}};
                  if (d.rng.uniform(3) == 0) step.lengths.push_back(d.rng.range(1, 4));
                  return step;
                },
                .share = 3},
      .json = {[](StepWriter& write, const SplitStep& s) { write(s.stage, s.iter, s.extent, s.lengths, 1); },
               [](StepReader& read) -> Expected<SplitStep> {
                 SplitStep s;
                 int outward = 0;
                 read(s.stage);
                 read(s.iter);
                 if (!read.null()) read(s.extent);
                 read(s.lengths);
                 read(outward);
                 if (outward != 1) return Error(ErrorCode::unsupported, "Expected a split counted from inner to outer, found the other order");
                 return s;
               }},
      .apply = apply_split,
      .describe = [](const SplitStep& s, const Names& n) {
        return fmt::format("split({}, {}, factors=[{}])", n.stage(s.stage), n.loop(s.stage, s.iter), fmt::join(s.lengths, ", "));
      }};
  return row;
}

}  // namespace tw::schedule
