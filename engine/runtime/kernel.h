// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/expected.h"

namespace tw::runtime {

/// What generated code calls. The layout is the ABI: generated code reads the fields by offset; new ones go at the end.
struct RuntimeApi {
  void* ctx;
  /// Runs body(closure, begin, end) over a static split of [0, n) on the pool's threads and waits.
  void (*parallel_for)(void* ctx, int64_t n, void (*body)(void* closure, int64_t begin, int64_t end), void* closure);
  /// 64-byte aligned workspace; freed in reverse order by the same thread.
  void* (*alloc)(void* ctx, int64_t bytes);
  void (*free)(void* ctx, void* p);
};

/// Generated kernels: args point to the arrays in signature order, each 64-byte aligned. Returns 0.
using KernelFn = int32_t (*)(void* const* args, const RuntimeApi* api);

/// Loaded code: keeps its memory alive.
class LoadedModule {
 public:
  virtual ~LoadedModule() = default;
  virtual Expected<KernelFn> find(const std::string& symbol) = 0;
};

}  // namespace tw::runtime
