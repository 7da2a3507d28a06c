// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/legality.h"

#include <fmt/format.h>

#include "engine/simulate/thread_needs.h"
#include "engine/tir/launches.h"
#include "engine/tir/visit.h"

namespace tw::simulate {

namespace {

/// Virtual threads are written out: more of them in one thread are a mistake of the schedule.
constexpr int64_t kMaxVirtualThreads = 64;
/// Registers that addresses and counters need at least, beside local arrays.
constexpr int64_t kLeastRegisters = 10;
/// Local arrays beyond this many bytes do not fit into a thread's local memory.
constexpr int64_t kMaxLocalBytes = 512 * 1024;

/// mma.sync of 16 x 8 x 16 came with it.
constexpr int kTensorCapability = 80;

bool has_products(const tir::Stmt& s) {
  bool found = false;
  tir::walk(s, [&](const tir::Stmt& x) { found = found || tir::as<tir::MmaNode>(x); });
  return found;
}

Error refused(const char* what, int64_t found, int64_t most, const target::Gpu& gpu) {
  return Error(ErrorCode::resource_limit, fmt::format("Expected at most {} {} on {}, found {}", most, what, gpu.name, found));
}

Expected<void> check_launch(const tir::Launch& launch, const target::Gpu& gpu) {
  const target::GpuArch& arch = target::gpu_arch(gpu.capability);
  const int64_t threads = launch.threads();
  if (threads > target::kMaxBlockThreads) return refused("threads in a block", threads, target::kMaxBlockThreads, gpu);
  if (launch.block[2] > target::kMaxThreadsZ) return refused("threads along z in a block", launch.block[2], target::kMaxThreadsZ, gpu);
  if (launch.grid[0] > target::kMaxGridX) return refused("blocks along x", launch.grid[0], target::kMaxGridX, gpu);
  for (const size_t d : {1, 2})
    if (launch.grid[d] > target::kMaxGridYZ) return refused(d == 1 ? "blocks along y" : "blocks along z", launch.grid[d], target::kMaxGridYZ, gpu);
  if (launch.shared_bytes() > arch.shared_opt_in) return refused("bytes of shared memory in a block", launch.shared_bytes(), arch.shared_opt_in, gpu);
  if (gpu.capability < kTensorCapability && has_products(launch.body))
    return Error(ErrorCode::resource_limit, fmt::format("Expected a GPU of compute capability 8.0 or newer for products on tensor cores, found {} with {}.{}",
                                                        gpu.name, gpu.capability / 10, gpu.capability % 10));
  const ThreadNeeds needs = thread_needs(launch.body);
  if (needs.virtual_threads > kMaxVirtualThreads) return refused("virtual threads", needs.virtual_threads, kMaxVirtualThreads, gpu);
  if (needs.local_bytes > kMaxLocalBytes) return refused("bytes of local arrays in a thread", needs.local_bytes, kMaxLocalBytes, gpu);
  // What does not fit into registers is spilled, which is slow but legal; a block that cannot have the least number of registers is not.
  if (const target::Occupancy o = target::occupancy(gpu.capability, static_cast<int>(threads), kLeastRegisters, launch.shared_bytes()); o.blocks == 0)
    return Error(ErrorCode::resource_limit,
                 fmt::format("Expected a block that fits on a multiprocessor of {}, found one limited by {}", gpu.name, target::limit_name(o.limit)));
  return {};
}

}  // namespace

Expected<void> check_launches(const tir::Func& f, const target::Gpu& gpu) {
  TW_TRY(const tir::LaunchList list, tir::split_launches(f));
  for (const tir::Launch& l : list.launches) TW_CHECK(check_launch(l, gpu));
  return {};
}

}  // namespace tw::simulate
