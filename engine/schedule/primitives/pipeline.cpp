// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "engine/schedule/primitives/primitives.h"

namespace tw::schedule {

namespace {

/// More arrays in turn than any shared memory has room for.
constexpr int kMaxArrays = 16;

}  // namespace

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

}  // namespace tw::schedule
