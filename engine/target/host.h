// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "engine/target/cpu_table.h"

namespace tw::target {

struct CacheSizes {
  int64_t l1d_bytes = 0;  ///< 0 where unknown, here and below
  int l1d_ways = 0;
  int64_t l2_bytes = 0;
  int64_t l3_bytes = 0;
  int l3_cores = 0;  ///< processors that share it
};

/// Caches from a sysfs folder such as /sys/devices/system/cpu/cpu0/cache; what is missing there stays 0.
CacheSizes caches_from_sysfs(const std::filesystem::path& folder);
/// Caches from CPUID leaf 4 or 0x8000001D; all 0 on other architectures.
CacheSizes caches_from_cpuid();

/// Instructions that both the processor and the operating system (saved registers) allow.
FeatureSet host_features();
/// LLVM's name of this processor.
std::string host_cpu_name();
/// Whether this is a virtual machine, whose tables tell of caches that it shares with others.
bool is_virtual_machine();
/// Processors that this process may run on, no more than its control groups give it time of.
int host_cores();
/// Time that control groups give this process, in whole processors, one at least; none where they set no limit. `mount`: where groups are, as /sys/fs/cgroup; `groups`: as /proc/self/cgroup says them.
/// Source: Linux, admin-guide/cgroup-v2 (cpu.max) and scheduler/sched-bwc (cpu.cfs_quota_us).
std::optional<int> quota_cores(const std::filesystem::path& mount, const std::string& groups);
/// That of this process.
std::optional<int> host_quota();

}  // namespace tw::target
