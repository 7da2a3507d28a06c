// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/runtime/kernel.h"

namespace tw::runtime {

/// Pinned worker threads for the parallel loops of generated code. The calling thread works as thread 0.
/// Workers spin while a graph runs and about 2 ms after the last region, then sleep: a futex wake costs 25 to 60 us, a spinning start 0.1 us.
/// Not reentrant: a parallel loop inside a parallel loop, or from a second thread meanwhile, runs serially.
class ThreadPool {
 public:
  /// `threads` >= 1 in total; `pin` binds thread i to the i-th processor that the calling thread may use (nothing is bound if there are fewer
  /// processors than threads). The caller stays bound as thread 0 until the pool is destroyed by the thread that made it.
  explicit ThreadPool(int threads, bool pin = true);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Of `wanted` threads those that have a processor: the rest would spin where others want to run, and a network would take a thousand times as long. Any number of threads runs any code.
  static int with_processors(int wanted);

  int threads() const;
  /// How many parallel loops so far found workers asleep and had to wake them.
  int64_t wakes() const;
  /// Function table for generated code; valid as long as the pool.
  const RuntimeApi* api() const;

  /// Keeps the workers spinning while it lives, however long the serial parts between two regions are.
  class Hot {
   public:
    explicit Hot(ThreadPool& pool);
    ~Hot();
    Hot(const Hot&) = delete;
    Hot& operator=(const Hot&) = delete;

   private:
    ThreadPool& pool_;
  };

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tw::runtime
