// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/limits.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <new>

#include "engine/measure/worker_process.h"
#include "engine/runtime/workspace.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TW_HUGE_SHADOW 1  // sanitizers reserve terabytes of addresses
#else
#define TW_HUGE_SHADOW 0
#endif

namespace tw::measure {

namespace {

constexpr rlim_t kOpenFiles = 64;
constexpr int kNice = -10;  ///< nine times the share of others, which still leaves them some

/// A limit that cannot be set leaves the outer one in force; the watchdog outside does not depend on any of them.
void set_limit(__rlimit_resource what, rlim_t soft, rlim_t hard) {
  const rlimit limit{soft, hard};
  setrlimit(what, &limit);
}

[[noreturn]] void out_of_memory() { _exit(kExitOutOfMemory); }
[[noreturn]] void workspace_exhausted(int64_t) { _exit(kExitOutOfMemory); }
[[noreturn]] void aborted(int) { _exit(kExitAborted); }

void common_limits(int64_t memory_bytes) {
  set_limit(RLIMIT_CORE, 0, 0);
  set_limit(RLIMIT_NOFILE, kOpenFiles, kOpenFiles);
  if (memory_bytes > 0 && !TW_HUGE_SHADOW) {
    const auto bytes = static_cast<rlim_t>(address_space_bytes() + memory_bytes);
    set_limit(RLIMIT_AS, bytes, bytes);
  }
  std::set_new_handler(&out_of_memory);
  runtime::set_workspace_failure(&workspace_exhausted);
}

}  // namespace

int64_t address_space_bytes() {
  long long pages = 0;
  std::FILE* f = std::fopen("/proc/self/statm", "re");
  if (f == nullptr) return 0;
  const bool read = std::fscanf(f, "%lld", &pages) == 1;
  std::fclose(f);
  return read ? pages * sysconf(_SC_PAGESIZE) : 0;
}

void limit_builder(int64_t memory_bytes) { common_limits(memory_bytes); }

void limit_candidate(int64_t memory_bytes, double cpu_seconds) {
  common_limits(memory_bytes);
  const auto cpu = static_cast<rlim_t>(std::ceil(cpu_seconds));
  set_limit(RLIMIT_CPU, cpu, cpu + 1);
  set_limit(RLIMIT_FSIZE, 0, 0);
  signal(SIGABRT, &aborted);
}

void raise_priority() {
  setpriority(PRIO_PROCESS, 0, kNice);
  // Where the system shares time between sessions first, the session's own value counts.
  if (std::FILE* group = std::fopen("/proc/self/autogroup", "we")) {
    std::fprintf(group, "%d", kNice);
    std::fclose(group);
  }
}

}  // namespace tw::measure
