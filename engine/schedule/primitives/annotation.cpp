// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/schedule/primitives/row.h"

namespace tw::schedule {

namespace {

/// A bound loop and whose it is.
struct Bound {
  const Stage* stage;
  const Iter* loop;
};

Expected<void> check_path(const std::vector<Bound>& path) {
  for (size_t k = 0; k < path.size(); ++k)
    for (size_t j = 0; j < k; ++j) {
      const Annotation outer = path[j].loop->annotation, inner = path[k].loop->annotation;
      if (outer == inner && inner != Annotation::vthread)
        return Error(ErrorCode::illegal_schedule,
                     fmt::format("Expected {} to be bound once along the loops around '{}', found '{}' of '{}' inside '{}' of '{}'", annotation_name(inner),
                                 path[k].stage->op.name, path[k].loop->var->name, path[k].stage->op.name, path[j].loop->var->name, path[j].stage->op.name));
      if (is_block(inner) && !is_block(outer))
        return Error(ErrorCode::illegal_schedule,
                     fmt::format("Expected blocks outside of threads, found '{}' of '{}' bound to {} inside '{}' of '{}' bound to {}", path[k].loop->var->name,
                                 path[k].stage->op.name, annotation_name(inner), path[j].loop->var->name, path[j].stage->op.name, annotation_name(outer)));
    }
  return {};
}

Expected<void> check_bindings(const State& s) {
  for (size_t i = 0; i < s.stages.size(); ++i) {
    if (!has_loops(s.stages[i])) continue;
    std::vector<Bound> path;
    for (const LoopRef& l : loops_around(s.stages, static_cast<int>(i))) {
      const Stage& stage = s.stages[static_cast<size_t>(l.stage)];
      const Iter& it = stage.iters[l.loop];
      if (is_binding(it.annotation) && it.extent > 1) path.push_back({&stage, &it});
    }
    std::reverse(path.begin(), path.end());
    TW_CHECK(check_path(path));
  }
  return {};
}

Expected<void> apply_annotation(State& s, const AnnotationStep& p) {
  TW_TRY(Stage * st, computed_stage(s, p.stage, "annotate"));
  if (p.iter < 0 || p.iter >= static_cast<int>(st->iters.size()))
    return Error(ErrorCode::invalid_argument,
                 fmt::format("Expected a loop below {} of stage '{}' to annotate, found {}", st->iters.size(), st->op.name, p.iter));
  Iter& it = st->iters[static_cast<size_t>(p.iter)];
  // They would combine into one element without order. Vector lanes get accumulators of their own; threads of a block combine theirs after the loop.
  if (it.kind == te::AxisKind::reduce && p.annotation > Annotation::vectorize && !is_unrolled(p.annotation) && !is_thread(p.annotation))
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected a spatial loop for '{}', found the reduction loop '{}' of stage '{}'",
                                                          annotation_name(p.annotation), it.var->name, st->op.name));
  if (is_binding(p.annotation) && p.annotation != Annotation::vthread)
    for (const Iter& other : st->iters)
      if (other.annotation == p.annotation && !other.var.same_as(it.var))
        return Error(ErrorCode::illegal_schedule, fmt::format("Expected {} to be bound once in stage '{}', found '{}' bound to it before '{}'",
                                                              annotation_name(p.annotation), st->op.name, other.var->name, it.var->name));
  it.annotation = p.annotation;
  return {};
}

}  // namespace

const PrimitiveOf<AnnotationStep>& AnnotationStep::primitive() {
  static const PrimitiveOf<AnnotationStep> row{
      .about = {.code = "AN",
                .words = {{"unroll", "Leaves it to the compiler to write the iterations of a loop out, one after the other.", kHalide},
                          {"unroll_explicit", "Writes the iterations of a loop out in the text that the compiler gets.", kHalide},
                          {"vectorize", "Computes all iterations of a loop by vector instructions, one iteration a lane.", kHalide},
                          {"parallel", "Spreads the iterations of a loop over threads of the processor.", kHalide},
                          {"bind", "Runs the iterations of a loop as blocks or threads of a processor that has them, or interleaved in one thread (vthread).",
                           kTvm},
                          {"none", "Takes the mark off a loop, which runs its iterations in turn.", kHalide}},
                .random = [](const Draw& d) -> Step {
                  return AnnotationStep{d.stage, d.loop(), kAnnotations[d.rng.uniform(std::size(kAnnotations))]};
                },
                .check = check_bindings},
      .json = {[](StepWriter& write, const AnnotationStep& s) { write(s.stage, s.iter, static_cast<int>(s.annotation)); },
               [](StepReader& read) -> Expected<AnnotationStep> {
                 AnnotationStep s;
                 int number = 0;
                 read(s.stage);
                 read(s.iter);
                 read(number);
                 const auto known =
                     std::find_if(std::begin(kAnnotations), std::end(kAnnotations), [number](Annotation k) { return static_cast<int>(k) == number; });
                 if (known == std::end(kAnnotations))
                   return Error(ErrorCode::unsupported, fmt::format("Expected an annotation from 0 to 10 or 12, found {}", number));
                 s.annotation = *known;
                 return s;
               }},
      .apply = apply_annotation,
      .describe =
          [](const AnnotationStep& s, const Names& n) {
            if (is_binding(s.annotation)) return fmt::format("bind({}, {}, {})", n.stage(s.stage), n.loop(s.stage, s.iter), annotation_name(s.annotation));
            return fmt::format("{}({}, {})", annotation_name(s.annotation), n.stage(s.stage), n.loop(s.stage, s.iter));
          },
      .word = [](const AnnotationStep& s) -> size_t {
        switch (s.annotation) {
          case Annotation::unroll:
            return 0;
          case Annotation::unroll_explicit:
            return 1;
          case Annotation::vectorize:
            return 2;
          case Annotation::parallel:
            return 3;
          case Annotation::none:
            return 5;
          default:
            return 4;
        }
      }};
  return row;
}

}  // namespace tw::schedule
