// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/templates.h"

#include "engine/space/templates/cuda/dense.h"

namespace tw::space::cuda {

using schedule::Annotation;

namespace {

bool dense_small_batch_matches(const te::Dag& dag, const Target&) {
  const auto a = dense_anchor(dag);
  return a && rows_of(dag, *a) < kLargeBatch;
}

ConfigSpace dense_small_batch_space(const te::Dag& dag, const Target&) {
  ConfigSpace space;
  space.define_split("tile_k", depth_of(dag, *dense_anchor(dag)), {.num_outputs = 2, .help = "threads of a block, which sum up side by side"});
  space.add_filter([](const ConfigEntity& e) { return e.split("tile_k")[1] <= target::kMaxBlockThreads; }, "a block has too many threads");
  return space;
}

Expected<schedule::Schedule> dense_small_batch_apply(const te::DagPtr& dag, const Target&, const ConfigEntity& e) {
  const cpu::Anchor a = *dense_anchor(*dag);
  schedule::Builder b(dag);
  cpu::inline_epilogue(b, a);
  const std::string sum = dag->ops[static_cast<size_t>(a.reduce)].name, out = dag->ops[static_cast<size_t>(a.output)].name;
  const int64_t threads = e.split("tile_k")[1];
  // The threads' sum is a stage of its own where elementwise work follows, which the first thread does.
  const auto parts = b.split(b.stage(sum), b.loops(b.stage(sum)).back(), {threads});
  const int partial = b.rfactor(b.stage(sum), parts[1]);
  if (!b.ok()) return std::move(b).finish();
  const int reduce = b.stage(sum), output = b.stage(out);
  b.bind(reduce, b.loops(reduce).back(), Annotation::thread_x);
  b.compute_at(partial, reduce, b.loops(reduce).back());
  const auto l = b.loops(output);
  b.bind(output, l[0], Annotation::block_y);
  b.bind(output, l[1], Annotation::block_x);
  if (reduce != output) b.compute_at(reduce, output, l[1]);
  return std::move(b).finish();
}

ConfigEntity dense_small_batch_fallback(const te::Dag& dag, const Target& target) {
  return limited_point(dense_small_batch_space(dag, target), {{"tile_k", {-1, 64}}}, {});
}

}  // namespace

Template dense_small_batch() {
  return {"dense_small_batch.gpu",
          dense_small_batch_matches,
          dense_small_batch_space,
          dense_small_batch_apply,
          dense_small_batch_fallback,
          "AutoTVM's dense layer for a few rows on GPUs. A block computes one element; its threads sum up parts and combine them.",
          kAutotvm};
}

}  // namespace tw::space::cuda
