// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench/affinity.h"

namespace tw::cli::bench {

std::vector<int> allowed_processors() {
  cpu_set_t set;
  std::vector<int> out;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return out;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) out.push_back(i);
  }
  return out;
}

void bind_self(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int p : processors) CPU_SET(p, &set);
  sched_setaffinity(0, sizeof set, &set);
}

Affinity::Affinity(const std::vector<int>& processors) {
  sched_getaffinity(0, sizeof before_, &before_);
  bind_self(processors);
}

Affinity::~Affinity() { sched_setaffinity(0, sizeof before_, &before_); }

}  // namespace tw::cli::bench
