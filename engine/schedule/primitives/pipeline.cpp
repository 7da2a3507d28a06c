// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

/// More arrays in turn than any shared memory has room for.
constexpr int kMaxArrays = 16;

Expected<void> apply_pipeline(State& s, const PipelineStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "pipeline"));
  if (p.arrays < 2 || p.arrays > kMaxArrays)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected 2 to {} arrays for 'pipeline', found {}", kMaxArrays, p.arrays));
  const int before = std::exchange(st->pipeline, p.arrays);
  const bool doubled = std::exchange(st->double_buffer, false);
  const auto legal = check_ahead(s, p.stage);
  if (!legal) st->pipeline = before, st->double_buffer = doubled;
  return legal;
}

}  // namespace

const PrimitiveOf<PipelineStep>& PipelineStep::primitive() {
  static const PrimitiveOf<PipelineStep> row{
      .about = {
          .code = "PL",
          .words = {{"pipeline", "Fills several shared tiles in turn by copies that run while earlier tiles are used, so that threads seldom wait for memory.",
                     "cp.async, NVIDIA PTX ISA; multistage pipelines of CUTLASS"}},
          .random = [](const Draw& d) -> Step {
            return PipelineStep{d.inner_stage(), static_cast<int>(d.rng.range(2, 4))};
          },
          .check = [](const State& s) -> Expected<void> {
            for (size_t i = 0; i < s.stages.size(); ++i)
              if (s.stages[i].pipeline > 0) TW_CHECK(check_ahead(s, static_cast<int>(i)));
            return {};
          }},
      .json = in_order<&PipelineStep::stage, &PipelineStep::arrays>(),
      .apply = apply_pipeline,
      .describe = [](const PipelineStep& s, const Names& n) { return fmt::format("pipeline({}, arrays={})", n.stage(s.stage), s.arrays); }};
  return row;
}

}  // namespace tw::schedule
