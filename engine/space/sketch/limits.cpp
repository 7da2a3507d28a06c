// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "engine/lower/loop_extents.h"
#include "engine/lower/placement.h"
#include "engine/schedule/loops.h"
#include "engine/schedule/primitives/primitives.h"
#include "engine/space/templates/cuda/tensorcore.h"
#include "engine/target/gpu.h"

namespace tw::space {

using schedule::Annotation;

Expected<void> check_limits(const schedule::Schedule& s, const Target& target) {
  if (!target.gpu) return {};
  const lower::LoopExtents extents(s);
  if (!extents.ok()) return Error(ErrorCode::illegal_schedule, "Expected a schedule that can be lowered, found one that a later step made illegal");
  return check_limits(
      s.stages(), [&](int i, size_t k) { return extents.of(i, s.stages()[static_cast<size_t>(i)].iters[k]); }, [&](int i) { return extents.region(i); }, target);
}

namespace {

/// What tensor cores ask of the stage whose loops they are, and of the one that reads it: whole tiles, and neighbours in pairs.
Expected<void> check_warp_product(std::span<const schedule::Stage> stages, int i, const lower::LoopExtentOf& extent) {
  const schedule::Stage& st = stages[static_cast<size_t>(i)];
  const auto at = static_cast<size_t>(schedule::position_of(st, st.warp_product->get()));
  const auto loads = schedule::product_of_loads(*st.op.body);
  const int64_t depth = loads.first != nullptr && loads.second != nullptr ? target::mma_depth(loads.first->dtype, loads.second->dtype) : 0;
  const int64_t rows = extent(i, at), columns = extent(i, at + 1), terms = extent(i, at + 2);
  if (depth == 0 || rows % cuda::kWarpTile != 0 || columns % cuda::kWarpTile != 0 || terms % depth != 0)
    return Error(ErrorCode::illegal_schedule, fmt::format("Expected whole tiles of a warp in '{}', found {} x {} x {}", st.op.name, rows, columns, terms));
  if (cuda::WarpTiling{.rows = rows, .columns = columns}.registers() > target::kMaxThreadRegisters)
    return Error(ErrorCode::resource_limit, fmt::format("Expected sums of '{}' that fit a thread's registers, found {} x {} of a warp", st.op.name, rows, columns));
  std::vector<int> readers = schedule::readers_of(stages, i);
  for (size_t k = 0; k < readers.size(); ++k) {
    const schedule::Stage& reader = stages[static_cast<size_t>(readers[k])];
    if (reader.location == schedule::ComputeLocation::inlined) {
      const std::vector<int> more = schedule::readers_of(stages, readers[k]);
      readers.insert(readers.end(), more.begin(), more.end());  // of what is written where it is read
      continue;
    }
    // Lanes hold pairs of columns of every eighth row.
    bool lanes = !reader.iters.empty() && extent(readers[k], reader.iters.size() - 1) == 2;
    for (size_t loop = 0; loop < reader.iters.size(); ++loop)
      lanes = lanes && (reader.iters[loop].annotation != Annotation::thread_x || extent(readers[k], loop) == target::kWarp);
    if (!lanes)
      return Error(ErrorCode::illegal_schedule, fmt::format("Expected '{}' to read what a lane holds in pairs, found other loops", reader.op.name));
  }
  return {};
}

}  // namespace

Expected<void> check_limits(std::span<const schedule::Stage> stages, const lower::LoopExtentOf& extent, const RegionOf& region, const Target& target) {
  if (!target.gpu) return {};
  const int64_t shared = target::gpu_arch(target.gpu->capability).shared_opt_in;
  struct Block {
    std::array<int64_t, 3> threads{1, 1, 1};
    int64_t shared_bytes = 0;
    bool warp_product = false;
  };
  std::map<int, Block> blocks;  // by root stage
  for (int i = 0; i < static_cast<int>(stages.size()); ++i) {
    const schedule::Stage& st = stages[static_cast<size_t>(i)];
    if (!schedule::has_loops(st)) continue;
    Block& block = blocks[schedule::root_of(stages, i)];
    if (st.warp_product) {
      block.warp_product = true;
      TW_CHECK(check_warp_product(stages, i, extent));
    }
    for (size_t loop = 0; loop < st.iters.size(); ++loop) {
      const int64_t n = extent(i, loop);
      const Annotation axes[] = {Annotation::thread_x, Annotation::thread_y, Annotation::thread_z};
      for (size_t k = 0; k < 3; ++k)
        if (st.iters[loop].annotation == axes[k]) block.threads[k] = std::max(block.threads[k], n);
    }
    // What is copied ahead is shared, whatever it was made by.
    if (st.location == schedule::ComputeLocation::at && (st.scope == ir::Scope::shared || st.pipeline > 0))
      block.shared_bytes += lower::array_elements(st, region(i)).value_or(shared) * st.op.output->dtype.bytes() * (st.double_buffer ? 2 : std::max(1, st.pipeline));
  }
  for (const auto& [root, block] : blocks) {
    const std::string& name = stages[static_cast<size_t>(root)].op.name;
    const int64_t threads = block.threads[0] * block.threads[1] * block.threads[2];
    if (threads > target::kMaxBlockThreads || block.threads[2] > target::kMaxThreadsZ)
      return Error(ErrorCode::resource_limit, fmt::format("Expected {} threads in a block of '{}' at most, found {}", target::kMaxBlockThreads, name, threads));
    if (block.warp_product && block.threads[0] != target::kWarp)
      return Error(ErrorCode::illegal_schedule, fmt::format("Expected {} threads along threadIdx.x of '{}', found {}", target::kWarp, name, block.threads[0]));
    if (block.shared_bytes > shared)
      return Error(ErrorCode::resource_limit, fmt::format("Expected {} bytes of shared memory in a block of '{}' at most, found {}", shared, name, block.shared_bytes));
  }
  return {};
}

}  // namespace tw::space
