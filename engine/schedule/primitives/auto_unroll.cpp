// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

constexpr std::string_view kPragma = "auto_unroll_max_step$";

Expected<void> apply_auto_unroll(State& s, const AutoUnrollStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "auto_unroll"));
  if (p.steps < 0) return Error(ErrorCode::invalid_argument, fmt::format("Expected at least 0 stores for 'auto_unroll', found {}", p.steps));
  st->auto_unroll = p.steps;
  return {};
}

Expected<AutoUnrollStep> read_auto_unroll(StepReader& read) {
  AutoUnrollStep s;
  int iter = 0;
  std::string pragma;
  read(s.stage);
  read(iter);
  read(pragma);
  if (iter != 0) return Error(ErrorCode::unsupported, fmt::format("Expected a pragma on the first loop of a stage, found it on loop {}", iter));
  if (!pragma.starts_with(kPragma)) return Error(ErrorCode::unsupported, fmt::format("Expected the pragma '{}N', found '{}'", kPragma, pragma));
  const char *begin = pragma.data() + kPragma.size(), *end = pragma.data() + pragma.size();
  if (const auto [at, error] = std::from_chars(begin, end, s.steps); error != std::errc() || at != end)
    return Error(ErrorCode::parse_error, fmt::format("Expected the pragma '{}N', found '{}'", kPragma, pragma));
  return s;
}

}  // namespace

const PrimitiveOf<AutoUnrollStep>& AutoUnrollStep::primitive() {
  static const PrimitiveOf<AutoUnrollStep> row{
      .about = {.code = "PR",
                .words = {{"auto_unroll", "Writes out the innermost loops of a stage as far as that makes no more stores of a loop than are allowed.", kTvm}},
                .random = [](const Draw& d) -> Step {
                  static constexpr int64_t kSteps[] = {0, 4, 16, 64};
                  return AutoUnrollStep{d.stage, kSteps[d.rng.uniform(std::size(kSteps))]};
                }},
      .json = {[](StepWriter& write, const AutoUnrollStep& s) { write(s.stage, 0, fmt::format("{}{}", kPragma, s.steps)); }, read_auto_unroll},
      .apply = apply_auto_unroll,
      .describe = [](const AutoUnrollStep& s, const Names& n) { return fmt::format("auto_unroll({}, {})", n.stage(s.stage), s.steps); }};
  return row;
}

}  // namespace tw::schedule
