// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

/// Stages whose work stands in the nest of `stage`: itself and what is computed inside its loops.
std::vector<int> nest_of(const State& s, int stage) {
  std::vector<int> nest{stage};
  for (size_t k = 0; k < nest.size(); ++k)
    for (size_t j = 0; j < s.stages.size(); ++j)
      if (s.stages[j].location == ComputeLocation::at && s.stages[j].at_stage == nest[k]) nest.push_back(static_cast<int>(j));
  return nest;
}

/// Whether one of `nest` reads stage j, perhaps through inlined stages.
bool reads(const State& s, const std::vector<int>& nest, int j) {
  const std::vector<int> readers = reading_loops(s.stages, j);
  return std::any_of(readers.begin(), readers.end(), [&](int r) { return std::find(nest.begin(), nest.end(), r) != nest.end(); });
}

}  // namespace

Expected<void> check_ahead(const State& s, int stage) {
  const Stage& st = s.stages[static_cast<size_t>(stage)];
  const char* primitive = st.pipeline > 0 ? "pipeline" : "double_buffer";
  if (st.location != ComputeLocation::at)
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected a stage that is computed inside a loop for '{}', found '{}'", primitive, st.op.name));
  const Stage& target = s.stages[static_cast<size_t>(st.at_stage)];
  const int loop = position_of(target, st.at_iter->get());
  const std::string name = fmt::format("'{}' of '{}'", (*st.at_iter)->name, target.op.name);
  if (loop < 0)
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected loop {}, where '{}' is computed, found it changed by a later step", name, st.op.name));
  const Annotation a = target.iters[static_cast<size_t>(loop)].annotation;
  if (a != Annotation::none && !is_unrolled(a))
    return Error(ErrorCode::illegal_schedule,
                 fmt::format("Expected a serial or unrolled loop around '{}' for '{}', found {} with '{}'", st.op.name, primitive, name, annotation_name(a)));
  const std::vector<int> nest = nest_of(s, stage);
  for (size_t j = 0; j < s.stages.size(); ++j) {
    const Stage& other = s.stages[j];
    const bool beside =
        static_cast<int>(j) != stage && other.location == ComputeLocation::at && other.at_stage == st.at_stage && other.at_iter->same_as(*st.at_iter);
    if (beside && reads(s, nest, static_cast<int>(j)))
      return Error(ErrorCode::illegal_schedule, fmt::format("Expected '{}' to read nothing that is computed inside loop {} for '{}', found '{}'", st.op.name,
                                                            name, primitive, other.op.name));
    if (beside && st.pipeline > 0 && other.pipeline > 0 && other.pipeline != st.pipeline)
      return Error(ErrorCode::illegal_schedule,
                   fmt::format("Expected equally many arrays of all that is copied ahead in loop {}, found {} of '{}' and {} of '{}'", name, st.pipeline,
                               st.op.name, other.pipeline, other.op.name));
  }
  return {};
}

namespace {

Expected<void> apply_double_buffer(State& s, const DoubleBufferStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "double_buffer"));
  const int pipeline = std::exchange(st->pipeline, 0);
  const auto legal = check_ahead(s, p.stage);
  if (legal)
    st->double_buffer = true;
  else
    st->pipeline = pipeline;
  return legal;
}

}  // namespace

const PrimitiveOf<DoubleBufferStep>& DoubleBufferStep::primitive() {
  static const PrimitiveOf<DoubleBufferStep> row{
      .about = {
          .code = "DB",
          .words = {{"double_buffer",
                     "Computes the next iteration's tile before this one's is used, in two arrays in turn, so that loading and computing overlap.", kTvm}},
          .random = [](const Draw& d) -> Step { return DoubleBufferStep{d.inner_stage()}; },
          .check = [](const State& s) -> Expected<void> {
            for (size_t i = 0; i < s.stages.size(); ++i)
              if (s.stages[i].double_buffer) TW_CHECK(check_ahead(s, static_cast<int>(i)));
            return {};
          }},
      .json = in_order<&DoubleBufferStep::stage>(),
      .apply = apply_double_buffer,
      .describe = [](const DoubleBufferStep& s, const Names& n) { return fmt::format("double_buffer({})", n.stage(s.stage)); }};
  return row;
}

}  // namespace tw::schedule
