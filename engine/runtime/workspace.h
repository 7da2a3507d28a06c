// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tw::runtime {

/// RuntimeApi::alloc: `bytes` of 64-byte aligned memory from a stack that each thread keeps, so that a kernel called again touches no allocator.
/// Never null: on exhaustion the handler below is called. `ctx` is not used.
void* workspace_alloc(void* ctx, int64_t bytes);
/// RuntimeApi::free: the last block of this thread that is not freed yet.
void workspace_free(void* ctx, void* p);

/// Called when memory runs out; must not return. The first one prints a sentence and aborts.
using WorkspaceFailure = void (*)(int64_t bytes);
void set_workspace_failure(WorkspaceFailure handler);

/// Bytes at whose multiples the arrays of a network begin.
constexpr int64_t kArrayAlign = 64;

/// Memory for arrays: aligned to kArrayAlign, zero-filled, backed by huge pages where the system gives them.
struct AlignedFree {
  size_t bytes = 0;
  void operator()(std::byte* p) const;
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedFree>;
/// Null if there is not enough memory; `bytes` may be 0.
AlignedBytes allocate_aligned(int64_t bytes);

}  // namespace tw::runtime
