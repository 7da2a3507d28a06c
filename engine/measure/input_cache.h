// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/base/bounded_cache.h"
#include "engine/measure/measure_job.h"

namespace tw::measure {

/// Row-major inputs of tasks, in sealed shared memory: made once, inherited by every candidate, writable by none. Those of the current job and of earlier ones,
/// 256 MiB in all: a session that goes from task to task makes them once.
class InputCache {
 public:
  /// Pointers in the order of the job's inputs, valid until the next call. Errors: out_of_memory.
  Expected<std::vector<const std::byte*>> get(const MeasureJob& job);

 private:
  /// A mapping that ends with it.
  struct Unmap {
    size_t bytes = 0;
    void operator()(const std::byte* data) const;
  };
  using Mapping = std::unique_ptr<const std::byte, Unmap>;
  BoundedCache<Mapping> arrays_{int64_t{256} << 20};
};

}  // namespace tw::measure
