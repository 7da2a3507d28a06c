// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include <algorithm>

#include "engine/space/rules/threads.h"
#include "engine/space/templates/cuda/tiles.h"

namespace tw::space::cuda {

namespace {

/// A dag as rules take it, for as long as the reference lives.
te::DagPtr borrowed(const te::Dag& dag) { return {te::DagPtr(), &dag}; }

std::optional<rules::RowsOnThreads> reduced_rows(const te::Dag& dag, const Target& target) {
  if (std::none_of(dag.ops.begin(), dag.ops.end(), [](const te::Op& op) { return op.reducer != te::Reducer::none; })) return std::nullopt;
  if (rules::find_crossing(dag)) return std::nullopt;
  const schedule::Builder b = rules::start_on_threads(borrowed(dag), std::nullopt);
  std::optional<rules::RowsOnThreads> rows;
  if (b.ok()) rows = rules::rows_on_threads(b, target);
  // Products are for templates that fetch what several results read once.
  return rows && !rows->product ? rows : std::nullopt;
}

bool reductions_matches(const te::Dag& dag, const Target& target) { return reduced_rows(dag, target).has_value(); }

ConfigSpace reductions_space(const te::Dag& dag, const Target& target) {
  const rules::RowsOnThreads rows = *reduced_rows(dag, target);
  ConfigSpace space;
  if (!rows.together) {
    space.define_knob("threads", cpu::up_to({32, 64, 128, 256, 512, 1024}, rows.count), "of a block; each computes its results alone");
    if (rows.window) space.define_knob("unroll_window", {0, 1}, "1: the reduction is written out");
    return space;
  }
  std::vector<int64_t> threads{1, 2, 4, 8, 16};
  for (int64_t n = target::kWarp; n <= target::kMaxBlockThreads; n *= 2) threads.push_back(n);
  space.define_knob("row_threads", cpu::up_to(threads, rows.length), "that share a row; up to 32 exchange values in registers");
  space.define_knob("rows", cpu::dividing({1, 2, 4, 8, 16, 32}, rows.neighbours), "of a block");
  if (rows.kept_bytes > 0) space.define_knob("keep", {0, 1}, "1: what several stages read stays in shared memory; 0: it is computed again for each");
  space.add_filter([](const ConfigEntity& e) { return e.integer("row_threads") * e.integer("rows") <= target::kMaxBlockThreads; },
                   "a block has too many threads");
  if (rows.kept_bytes > 0)
    space.add_filter([bytes = rows.kept_bytes, most = target::gpu_arch(target.gpu->capability).shared_opt_in](
                         const ConfigEntity& e) { return e.integer("keep") == 0 || e.integer("rows") * bytes <= most; },
                     "what several stages read does not fit the shared memory of a block");
  return space;
}

/// None: the schedule by rule is one of these.
ConfigEntity reductions_fallback(const te::Dag&, const Target&) { return {}; }

Expected<schedule::Schedule> reductions_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  const rules::RowsOnThreads rows = *reduced_rows(*dag, target);
  rules::ThreadChoices how;
  if (rows.together) {
    how.row_threads = e.integer("row_threads");
    how.rows = e.integer("rows");
    if (rows.kept_bytes > 0) how.keep = static_cast<int>(e.integer("keep"));
  } else {
    how.threads = e.integer("threads");
    if (rows.window) how.window = static_cast<int>(e.integer("unroll_window"));
  }
  schedule::Builder b = rules::start_on_threads(dag, std::nullopt);
  rules::schedule_by_threads(b, target, std::nullopt, how);
  return std::move(b).finish();
}

}  // namespace

Template reductions() {
  return {"reductions.cuda",
          reductions_matches,
          reductions_space,
          reductions_apply,
          reductions_fallback,
          "Softmax, norms, sums and pools in one kernel, scheduled by rule: the threads of a row reduce it together, or each thread has results of its own. "
          "How many threads share a row, how many rows a block has, and whether what several stages read stays in shared memory are open.",
          "Luitjens, Faster parallel reductions on Kepler, NVIDIA 2014"};
}

}  // namespace tw::space::cuda
