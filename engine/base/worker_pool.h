// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "engine/base/stop_token.h"

namespace tw {

/// Threads for work that falls into numbered tasks, such as the features of many candidates. Each task's result has its number's place, so what comes out does
/// not depend on how many threads there are or which of them was faster. Belongs to its caller; one thread at a time may use it, and tasks may not.
/// What draws at random gives every task a generator of its own beforehand (Rng::split).
class WorkerPool {
 public:
  /// `threads` >= 1 in total: the caller works too.
  explicit WorkerPool(int threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int threads() const;
  /// Calls task(i) once for every i below `count` and returns when all calls have. A stop lets those under way end and begins no others. True if none is missing.
  /// Exceptions, which are bugs, come out here: the one of the lowest task, when the others have ended.
  bool run(size_t count, const std::function<void(size_t)>& task, const StopToken& stop = {});
  /// What `function` says of every number below `count`, in their order; nothing for those that a stop left out.
  template <class F>
  auto map(size_t count, const F& function, const StopToken& stop = {}) {
    std::vector<std::optional<std::invoke_result_t<const F&, size_t>>> results(count);
    run(count, [&](size_t i) { results[i].emplace(function(i)); }, stop);
    return results;
  }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tw
