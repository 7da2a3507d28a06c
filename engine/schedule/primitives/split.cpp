// SPDX-License-Identifier: Apache-2.0
#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

Expected<void> apply_split(State& s, const SplitStep& p) {
  if (p.lengths.empty()) return Error(ErrorCode::invalid_argument, "Expected at least one length for 'split', found none");
  if (p.from_inside) return split_loop(s, p.stage, p.iter, p.lengths, "split");
  TW_TRY(const Stage* st, computed_stage(s, p.stage, "split"));
  if (p.iter < 0 || p.iter >= static_cast<int>(st->iters.size())) return split_loop(s, p.stage, p.iter, p.lengths, "split");  // refuses it
  int64_t rest = st->iters[static_cast<size_t>(p.iter)].extent;
  for (const int64_t l : p.lengths) rest = l < 1 ? rest : (rest - 1) / l + 1;
  std::vector<int64_t> inner(p.lengths.begin() + 1, p.lengths.end());
  inner.push_back(rest);
  if (p.lengths.front() < 1) inner.front() = p.lengths.front();  // named as what it is
  return split_loop(s, p.stage, p.iter, inner, "split");
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
                  step.from_inside = d.rng.uniform(4) != 0;
                  return step;
                },
                .share = 3},
      .json = {[](StepWriter& write, const SplitStep& s) { write(s.stage, s.iter, s.extent, s.lengths, s.from_inside ? 1 : 0); },
               [](StepReader& read) -> Expected<SplitStep> {
                 SplitStep s;
                 int from_inside = 1;
                 read(s.stage);
                 read(s.iter);
                 if (!read.null()) read(s.extent);
                 read(s.lengths);
                 read(from_inside);
                 s.from_inside = from_inside != 0;
                 return s;
               }},
      .apply = apply_split,
      .describe = [](const SplitStep& s, const Names& n) {
        return fmt::format("split({}, {}, {}=[{}])", n.stage(s.stage), n.loop(s.stage, s.iter), s.from_inside ? "factors" : "parts", fmt::join(s.lengths, ", "));
      }};
  return row;
}

}  // namespace tw::schedule
