// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tir/stmt.h"

namespace tw::codegen {

/// How much code a function asks for, counted before LLVM sees it.
struct CodeSize {
  int64_t block_stores = 0;  ///< stores in the largest run of statements without a loop: one unrolled body
  int64_t nodes = 0;         ///< expression nodes of the whole function; a call that goes lane by lane counts every lane
};
CodeSize code_size(const tir::Func& f);

/// Beyond these, compiling takes longer than a second and the code runs slowly: it spills and leaves the instruction cache.
inline constexpr int64_t kMaxBlockStores = 2048;
inline constexpr int64_t kMaxNodes = 200'000;

/// Errors: resource_limit with the counts.
Expected<void> check_code_size(const tir::Func& f);

}  // namespace tw::codegen
