// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "engine/runtime/executable.h"
#include "engine/runtime/kernel.h"
#include "engine/runtime/thread_pool.h"

namespace tw::runtime {

struct CallTime {
  int call = 0;
  double seconds = 0;
};

/// Runs a compiled network. Not thread-safe; several executors may share one executable.
class GraphExecutor {
 public:
  /// `module` holds the loaded object of the executable; `threads` as the target says if 0.
  static Expected<std::unique_ptr<GraphExecutor>> create(std::shared_ptr<const Executable> executable, std::unique_ptr<LoadedModule> module, int threads = 0);
  ~GraphExecutor();

  /// Row-major arrays, in any order, by input name. Errors: invalid_argument naming the input for a wrong name, type or shape, or a missing one.
  Expected<void> set_inputs(const std::map<std::string, HostArray>& inputs);
  /// One run over the inputs set last. Times of every call are filled if `times` is given.
  void run(std::vector<CallTime>* times = nullptr);
  /// Outputs of the last run, row-major, in the order of the executable.
  std::vector<HostArray> outputs() const;

 private:
  GraphExecutor();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tw::runtime
