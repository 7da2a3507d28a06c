// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/schedule/loops.h"
#include "engine/space/rules/threads.h"
#include "engine/space/templates/cpu/blocked.h"

namespace tw::space::cuda {

namespace {

/// Whether a transpose passes through tiles, and what a kernel of one stage may compute at once.
struct Injective {
  std::optional<rules::Crossing> crossing;
  int64_t vector = 1, elements = 1;
};

std::optional<Injective> find_injective(const te::Dag& dag) {
  if (dag.outputs.size() != 1) return std::nullopt;
  const te::Op& out = dag.ops[static_cast<size_t>(dag.outputs.front())];
  if (out.is_placeholder() || out.axes.empty()) return std::nullopt;
  for (const te::Op& op : dag.ops)
    if (op.reducer != te::Reducer::none) return std::nullopt;
  Injective found{rules::find_crossing(dag), 1, out.output->num_elements()};
  if (found.crossing) return found;
  const schedule::Builder b = rules::start_on_threads({te::DagPtr(), &dag}, std::nullopt);
  for (int i = 0; i < b.num_stages(); ++i)
    if (schedule::has_loops(b.at(i)) && i != b.outputs().front()) return std::nullopt;
  found.vector = rules::element_vectors(b, b.outputs().front()).longest;
  return found;
}

bool injective_matches(const te::Dag& dag, const Target&) { return find_injective(dag).has_value(); }

ConfigSpace injective_space(const te::Dag& dag, const Target&) {
  const Injective i = *find_injective(dag);
  ConfigSpace space;
  if (i.crossing) {
    space.define_knob("tile_rows", {2, 4, 8, 16, 32}, "rows of threads in a tile of 32 x 32 elements");
    return space;
  }
  space.define_knob("threads", cpu::up_to({64, 128, 256, 512, 1024}, i.elements), "of a block");
  space.define_knob("vector", cpu::up_to({1, 2, 4, 8, 16}, i.vector), "neighbouring elements that a thread computes at once");
  return space;
}

/// None: the schedule by rule is one of these.
ConfigEntity injective_fallback(const te::Dag&, const Target&) { return {}; }

Expected<schedule::Schedule> injective_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  const Injective i = *find_injective(*dag);
  rules::ThreadChoices how;
  if (i.crossing) {
    how.tile_rows = e.integer("tile_rows");
  } else {
    how.threads = e.integer("threads");
    how.vector = e.integer("vector");
  }
  schedule::Builder b = rules::start_on_threads(dag, i.crossing);
  rules::schedule_by_threads(b, target, i.crossing, how);
  return std::move(b).finish();
}

}  // namespace

Template injective() {
  return {"injective.cuda",
          injective_matches,
          injective_space,
          injective_apply,
          injective_fallback,
          "Elementwise kernels and copies in vectors of up to 16 bytes; transposes through tiles in shared memory. How many threads a block has and how many "
          "elements a thread are open.",
          "Ruetsch and Micikevicius, Optimizing matrix transpose in CUDA, NVIDIA 2009"};
}

}  // namespace tw::space::cuda
