// SPDX-License-Identifier: Apache-2.0
#include "app/cli/host.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

#include "app/cli/common.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/codegen/codegen.h"
#include "engine/measure/peak.h"
#include "engine/runtime/thread_pool.h"
#include "engine/target/target.h"

namespace tw::cli {
namespace {

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return std::string(trim(line.substr(line.find(':') + 1)));
  }
  return "unknown";
}

}  // namespace

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return std::string(trim(line));
}

Json host_description() {
  utsname u{};
  uname(&u);
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  return {{"cpu", cpu_model()},
          {"threads", sysconf(_SC_NPROCESSORS_ONLN)},
          {"memory_bytes", static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE)},
          {"kernel", fmt::format("{} {}", u.sysname, u.release)},
          {"governor", governor.empty() ? "none" : governor},
          {"huge_pages", first_line("/sys/kernel/mm/transparent_hugepage/enabled")},
          {"clock", first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource")},
          {"codegen", codegen::codegen_version()},
          {"target", to_json(host_target())}};
}

Json host_with_peak(const Target& target) {
  Json host = host_description();
  if (const double peak = measure::peak_of(target); peak > 0) host[measure::kPeakOfHost] = peak;
  return host;
}

void note_missing_processors(const Target& target) {
  const int threads = runtime::ThreadPool::with_processors(target.cores);
  if (!target.gpu && threads < target.cores) note(fmt::format("Note: the code is for {} threads, this process has processors for {}: so many run it", target.cores, threads));
}

}  // namespace tw::cli
