// SPDX-License-Identifier: Apache-2.0
#include "engine/process/limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TW_HUGE_SHADOW 1
#else
#define TW_HUGE_SHADOW 0
#endif

namespace tw::process {

namespace {

constexpr rlim_t kOpenFiles = 64;
constexpr int kNice = -10;  ///< nine times the share of others, which still leaves them some

void set_limit(__rlimit_resource what, rlim_t soft, rlim_t hard) {
  const rlimit limit{soft, hard};
  setrlimit(what, &limit);
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

void limit_this_process(const Limits& limits) {
  set_limit(RLIMIT_CORE, 0, 0);
  set_limit(RLIMIT_NOFILE, kOpenFiles, kOpenFiles);
  if (limits.memory_bytes > 0 && !TW_HUGE_SHADOW) {
    const auto bytes = static_cast<rlim_t>(address_space_bytes() + limits.memory_bytes);
    set_limit(RLIMIT_AS, bytes, bytes);
  }
  if (limits.cpu_seconds > 0) {
    const auto cpu = static_cast<rlim_t>(std::ceil(limits.cpu_seconds));
    set_limit(RLIMIT_CPU, cpu, cpu + 1);
  }
  if (limits.no_growing_files) set_limit(RLIMIT_FSIZE, 0, 0);
}

MemoryAllowance::MemoryAllowance(int64_t bytes) : mapped_(address_space_bytes()), bytes_(bytes) {
  rlimit now{};
  outer_ = getrlimit(RLIMIT_AS, &now) == 0 ? now.rlim_cur : RLIM_INFINITY;
  apply();
}

MemoryAllowance::~MemoryAllowance() {
  rlimit now{};
  if (!TW_HUGE_SHADOW && getrlimit(RLIMIT_AS, &now) == 0) set_limit(RLIMIT_AS, outer_, now.rlim_max);
}

void MemoryAllowance::widen(int64_t bytes) {
  bytes_ += bytes;
  apply();
}

void MemoryAllowance::apply() const {
  rlimit now{};
  if (TW_HUGE_SHADOW || getrlimit(RLIMIT_AS, &now) != 0) return;
  set_limit(RLIMIT_AS, std::min<rlim_t>(static_cast<rlim_t>(mapped_ + bytes_), outer_), now.rlim_max);
}

LiftedAllowance::LiftedAllowance() : soft_(RLIM_INFINITY) {
  rlimit now{};
  if (getrlimit(RLIMIT_AS, &now) != 0) return;
  soft_ = now.rlim_cur;
  set_limit(RLIMIT_AS, now.rlim_max, now.rlim_max);
}

LiftedAllowance::~LiftedAllowance() {
  rlimit now{};
  if (getrlimit(RLIMIT_AS, &now) == 0) set_limit(RLIMIT_AS, std::min<rlim_t>(soft_, now.rlim_max), now.rlim_max);
}

std::optional<int64_t> memory_kills() {
  std::ifstream in("/proc/vmstat");
  std::string name;
  for (int64_t value = 0; in >> name >> value;)
    if (name == "oom_kill") return value;
  return std::nullopt;
}

void raise_priority() {
  setpriority(PRIO_PROCESS, 0, kNice);
  // Where the system shares time between sessions first, the session's own value counts.
  if (std::FILE* group = std::fopen("/proc/self/autogroup", "we")) {
    std::fprintf(group, "%d", kNice);
    std::fclose(group);
  }
}

}  // namespace tw::process
