// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/measure/measure_job.h"

namespace tw::measure {

/// Row-major inputs of the current task, in sealed shared memory: made once, inherited by every candidate, writable by none.
class InputCache {
 public:
  ~InputCache() { clear(); }
  /// Pointers in the order of the job's inputs; arrays of other jobs are dropped. Errors: out_of_memory.
  Expected<std::vector<const std::byte*>> get(const MeasureJob& job);

 private:
  struct Mapping {
    const std::byte* data;
    size_t bytes;
  };
  void clear();
  std::map<std::string, Mapping> arrays_;
};

}  // namespace tw::measure
