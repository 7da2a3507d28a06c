// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <vector>

namespace tw::cli::bench {

/// The processors that the calling thread may use.
std::vector<int> allowed_processors();

/// From now on the calling thread may use these processors only. A refusal costs speed, not correctness.
void bind_self(const std::vector<int>& processors);

/// While it lives, the calling thread and the threads and processes that it starts may use these processors only.
/// Libraries start their threads inside it: ours bind the caller to one processor, which theirs would inherit.
class Affinity {
 public:
  explicit Affinity(const std::vector<int>& processors);
  ~Affinity();
  Affinity(const Affinity&) = delete;
  Affinity& operator=(const Affinity&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace tw::cli::bench
