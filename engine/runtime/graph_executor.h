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
  bool woke = false;  ///< its loops found threads asleep
};

/// Runs a compiled network. Not thread-safe; several executors may share one executable.
class GraphExecutor {
 public:
  /// On this processor. `module` holds the loaded object of the executable; `threads` as the target says if 0.
  static Expected<std::unique_ptr<GraphExecutor>> create(std::shared_ptr<const Executable> executable, std::unique_ptr<LoadedModule> module, int threads = 0);
  /// The same with threads that others use as well: of several networks in one process, those of one would spin where another's want to run.
  static Expected<std::unique_ptr<GraphExecutor>> create(std::shared_ptr<const Executable> executable, std::unique_ptr<LoadedModule> module,
                                                         std::shared_ptr<ThreadPool> pool);
  virtual ~GraphExecutor() = default;

  /// Row-major arrays, in any order, by input name. Errors: invalid_argument naming the input for a wrong name, type or shape, or a missing one.
  Expected<void> set_inputs(const std::map<std::string, HostArray>& inputs);
  /// One run over the inputs set last: how long it took, in seconds. Times of every call are filled if `times` is given; on a processor they add up to the run,
  /// on a GPU the run takes longer for it. Errors: only of devices.
  virtual Expected<double> run(std::vector<CallTime>* times = nullptr) = 0;
  /// Outputs of the last run, row-major, in the order of the executable. Errors: only of devices.
  virtual Expected<std::vector<HostArray>> outputs() = 0;

 protected:
  explicit GraphExecutor(std::shared_ptr<const Executable> executable) : executable_(std::move(executable)) {}
  /// Puts a row-major array of the right type and shape where the kernels find it.
  virtual Expected<void> put_input(int slot, const HostArray& array) = 0;

  std::shared_ptr<const Executable> executable_;
  bool inputs_set_ = false;
};

}  // namespace tw::runtime
