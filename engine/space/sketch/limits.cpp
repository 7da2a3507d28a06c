// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "engine/lower/loop_extents.h"
#include "engine/target/gpu.h"

namespace tw::space {

using schedule::Annotation;

Expected<void> check_limits(const schedule::Schedule& s, const Target& target) {
  if (!target.gpu) return {};
  const lower::LoopExtents extents(s);
  if (!extents.ok()) return Error(ErrorCode::illegal_schedule, "Expected a schedule that can be lowered, found one that a later step made illegal");
  return check_limits(s.stages(), [&](int i, size_t k) { return extents.of(i, s.stages()[static_cast<size_t>(i)].iters[k]); }, target);
}

Expected<void> check_limits(std::span<const schedule::Stage> stages, const lower::LoopExtentOf& extent, const Target& target) {
  if (!target.gpu) return {};
  struct Block {
    std::array<int64_t, 3> threads{1, 1, 1};
    int64_t shared_bytes = 0;
  };
  std::map<int, Block> blocks;  // by root stage
  for (int i = 0; i < static_cast<int>(stages.size()); ++i) {
    const schedule::Stage& st = stages[static_cast<size_t>(i)];
    if (!schedule::has_loops(st)) continue;
    Block& block = blocks[schedule::root_of(stages, i)];
    int64_t elements = 1;
    for (size_t loop = 0; loop < st.iters.size(); ++loop) {
      const int64_t n = extent(i, loop);
      elements *= n;
      const Annotation axes[] = {Annotation::thread_x, Annotation::thread_y, Annotation::thread_z};
      for (size_t k = 0; k < 3; ++k)
        if (st.iters[loop].annotation == axes[k]) block.threads[k] = std::max(block.threads[k], n);
    }
    if (st.location == schedule::ComputeLocation::at && st.scope == ir::Scope::shared)
      block.shared_bytes += elements * st.op.output->dtype.bytes() * (st.double_buffer ? 2 : std::max(1, st.pipeline));
  }
  const int64_t shared = target::gpu_arch(target.gpu->capability).shared_opt_in;
  for (const auto& [root, block] : blocks) {
    const std::string& name = stages[static_cast<size_t>(root)].op.name;
    const int64_t threads = block.threads[0] * block.threads[1] * block.threads[2];
    if (threads > target::kMaxBlockThreads || block.threads[2] > target::kMaxThreadsZ)
      return Error(ErrorCode::resource_limit, fmt::format("Expected {} threads in a block of '{}' at most, found {}", target::kMaxBlockThreads, name, threads));
    if (block.shared_bytes > shared)
      return Error(ErrorCode::resource_limit, fmt::format("Expected {} bytes of shared memory in a block of '{}' at most, found {}", shared, name, block.shared_bytes));
  }
  return {};
}

}  // namespace tw::space
