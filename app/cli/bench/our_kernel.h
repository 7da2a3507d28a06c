// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "app/cli/bench/kernel_case.h"
#include "engine/api/compile.h"
#include "engine/runtime/thread_pool.h"
#include "engine/runtime/workspace.h"
#include "engine/schedule/schedule.h"

namespace tw::cli::bench {

/// One kernel of a network with its arrays: constants packed ahead of time, as often as asked for, in a row.
class OurKernel {
 public:
  /// `group` of the optimised graph, scheduled by `schedule`; `inputs` by the names that the graph has for them. The pool outlives the kernel.
  /// Errors: what lowering and compiling say; out_of_memory.
  static Expected<std::unique_ptr<OurKernel>> create(const graph::Graph& optimized, const graph::Group& group, const schedule::Schedule& schedule,
                                                     const Target& target, const std::map<std::string, const HostArray*>& inputs, int copies,
                                                     const runtime::ThreadPool& pool);
  /// One call with the next copy of the constants.
  void run();
  /// The result of the last call, row-major.
  HostArray result() const;

 private:
  explicit OurKernel(const runtime::ThreadPool& pool) : pool_(pool) {}

  const runtime::ThreadPool& pool_;
  std::shared_ptr<runtime::LoadedModule> module_;
  runtime::KernelFn kernel_ = nullptr;
  runtime::ArgSpec result_spec_;
  std::vector<runtime::AlignedBytes> arrays_;
  std::vector<std::vector<void*>> args_;  ///< per copy
  size_t next_ = 0;
};

}  // namespace tw::cli::bench
