// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "engine/schedule/primitives/primitives.h"

namespace tw::schedule {

namespace {

bool is_block(Annotation a) { return a == Annotation::block_x || a == Annotation::block_y || a == Annotation::block_z; }

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

}  // namespace

Expected<void> check_bindings(const State& s) {
  for (const Stage& st : s.stages) {
    if (st.op.is_placeholder() || st.location == ComputeLocation::inlined) continue;
    std::vector<Bound> path;  // innermost first
    const auto add = [&](const Stage& stage, size_t loops, bool with_threads) {
      for (size_t k = loops; k-- > 0;)
        if (is_binding(stage.iters[k].annotation) && stage.iters[k].extent > 1 && (with_threads || is_block(stage.iters[k].annotation)))
          path.push_back({&stage, &stage.iters[k]});
    };
    add(st, st.iters.size(), true);
    bool threads = true;
    for (const Stage* inner = &st; inner->location == ComputeLocation::at;) {
      threads = threads && inner->scope != ir::Scope::shared;  // all threads of a block fill a shared array, whichever loops stand around
      const Stage& outer = s.stages[static_cast<size_t>(inner->at_stage)];
      add(outer, static_cast<size_t>(position_of(outer, inner->at_iter->get()) + 1), threads);
      inner = &outer;
    }
    std::reverse(path.begin(), path.end());
    TW_CHECK(check_path(path));
  }
  return {};
}

}  // namespace tw::schedule
