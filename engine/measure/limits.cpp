// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/limits.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <new>

#include "engine/process/child_process.h"
#include "engine/process/limits.h"
#include "engine/runtime/workspace.h"

namespace tw::measure {

namespace {

[[noreturn]] void out_of_memory() { _exit(process::kExitOutOfMemory); }
[[noreturn]] void workspace_exhausted(int64_t) { _exit(process::kExitOutOfMemory); }
[[noreturn]] void aborted(int) { _exit(kExitAborted); }

void limit(const process::Limits& limits) {
  process::limit_this_process(limits);
  std::set_new_handler(&out_of_memory);
  runtime::set_workspace_failure(&workspace_exhausted);
}

}  // namespace

void limit_builder(int64_t memory_bytes) { limit({.memory_bytes = memory_bytes}); }

void limit_candidate(int64_t memory_bytes, double cpu_seconds) {
  limit({.memory_bytes = memory_bytes, .cpu_seconds = cpu_seconds, .no_growing_files = true});
  signal(SIGABRT, &aborted);
}

void keep_last_processors(int cores) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return;
  int extra = CPU_COUNT(&set) - cores;
  for (int i = 0; i < CPU_SETSIZE && extra > 0; ++i) {
    if (!CPU_ISSET(i, &set)) continue;
    CPU_CLR(i, &set);
    --extra;
  }
  sched_setaffinity(0, sizeof set, &set);  // a refusal costs precision only
}

}  // namespace tw::measure
