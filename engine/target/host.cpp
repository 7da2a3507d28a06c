// SPDX-License-Identifier: Apache-2.0
#include "engine/target/host.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "engine/target/target.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

namespace tw {

namespace target {

namespace {

#if defined(__x86_64__)

struct Regs {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

/// All zero for leaves that the processor does not have.
Regs cpuid(unsigned leaf, unsigned subleaf = 0) {
  Regs r;
  if (__get_cpuid_max(leaf & 0x80000000U, nullptr) < leaf) return {};
  __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
  return r;
}

uint64_t enabled_register_state() {
  if ((cpuid(1).ecx & (1U << 27)) == 0) return 0;  // no OSXSAVE
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t{high} << 32) | low;
}

struct FeatureBit {
  X86Feature feature;
  unsigned leaf, subleaf;
  unsigned Regs::*reg;
  int bit;
};

using F = X86Feature;
constexpr unsigned kExtended = 0x80000001U;
constexpr FeatureBit kBits[] = {
    {F::sse3, 1, 0, &Regs::ecx, 0},          {F::ssse3, 1, 0, &Regs::ecx, 9},         {F::fma, 1, 0, &Regs::ecx, 12},
    {F::sse41, 1, 0, &Regs::ecx, 19},        {F::sse42, 1, 0, &Regs::ecx, 20},        {F::movbe, 1, 0, &Regs::ecx, 22},
    {F::popcnt, 1, 0, &Regs::ecx, 23},       {F::avx, 1, 0, &Regs::ecx, 28},          {F::f16c, 1, 0, &Regs::ecx, 29},
    {F::bmi, 7, 0, &Regs::ebx, 3},           {F::avx2, 7, 0, &Regs::ebx, 5},          {F::bmi2, 7, 0, &Regs::ebx, 8},
    {F::avx512f, 7, 0, &Regs::ebx, 16},      {F::avx512dq, 7, 0, &Regs::ebx, 17},     {F::avx512ifma, 7, 0, &Regs::ebx, 21},
    {F::avx512cd, 7, 0, &Regs::ebx, 28},     {F::avx512bw, 7, 0, &Regs::ebx, 30},     {F::avx512vl, 7, 0, &Regs::ebx, 31},
    {F::avx512vbmi, 7, 0, &Regs::ecx, 1},    {F::avx512vbmi2, 7, 0, &Regs::ecx, 6},   {F::gfni, 7, 0, &Regs::ecx, 8},
    {F::avx512vnni, 7, 0, &Regs::ecx, 11},   {F::avx512bitalg, 7, 0, &Regs::ecx, 12}, {F::avx512vpopcntdq, 7, 0, &Regs::ecx, 14},
    {F::avx512fp16, 7, 0, &Regs::edx, 23},   {F::avxvnni, 7, 1, &Regs::eax, 4},       {F::avx512bf16, 7, 1, &Regs::eax, 5},
    {F::lzcnt, kExtended, 0, &Regs::ecx, 5},
};

constexpr FeatureSet kNeedsYmm = bit(F::avx) | bit(F::f16c) | bit(F::fma) | bit(F::avx2) | bit(F::avxvnni);

constexpr FeatureSet needs_zmm() {
  FeatureSet set = 0;
  for (int i = static_cast<int>(F::avx512f); i <= static_cast<int>(F::avx512fp16); ++i) set |= FeatureSet{1} << i;
  return set;
}

#endif

std::string read_word(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

/// `48K`, `1024K`, `32M` or a plain number; 0 if it is none of these.
int64_t parse_size(const std::string& text) {
  int64_t value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc()) return 0;
  const char unit = end == text.data() + text.size() ? '\0' : *end;
  return unit == 'K' ? value * 1024 : unit == 'M' ? value * 1024 * 1024 : unit == '\0' ? value : 0;
}

/// `0-3,8` is 5; 0 if it is no such list.
int count_processors(const std::string& list) {
  int count = 0;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at < end) {
    int first = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc()) return 0;
    int last = first;
    if (read.ptr < end && *read.ptr == '-') {
      read = std::from_chars(read.ptr + 1, end, last);
      if (read.ec != std::errc()) return 0;
    }
    count += last - first + 1;
    at = read.ptr + 1;  // past the comma
  }
  return count;
}

void record_cache(CacheSizes& c, int level, int64_t bytes, int ways) {
  if (level == 1) c.l1d_bytes = bytes, c.l1d_ways = ways;
  if (level == 2) c.l2_bytes = bytes;
  if (level == 3) c.l3_bytes = bytes;
}

template <class T>
T first_known(T a, T b, T fallback) {
  return a > 0 ? a : b > 0 ? b : fallback;
}

}  // namespace

CacheSizes caches_from_sysfs(const std::filesystem::path& folder) {
  CacheSizes c;
  for (int i = 0; i < 16; ++i) {
    const auto index = folder / ("index" + std::to_string(i));
    const std::string type = read_word(index / "type");
    if (type.empty()) break;
    if (type == "Instruction") continue;
    const int level = static_cast<int>(parse_size(read_word(index / "level")));
    record_cache(c, level, parse_size(read_word(index / "size")), static_cast<int>(parse_size(read_word(index / "ways_of_associativity"))));
    if (level == 3) c.l3_cores = count_processors(read_word(index / "shared_cpu_list"));
  }
  return c;
}

#if defined(__x86_64__)

CacheSizes caches_from_cpuid() {
  CacheSizes c;
  const unsigned leaf = cpuid(0x8000001DU).eax != 0 ? 0x8000001DU : 4U;
  for (unsigned i = 0; i < 16; ++i) {
    const Regs r = cpuid(leaf, i);
    const unsigned type = r.eax & 31U;
    if (type == 0) break;
    if (type == 2) continue;  // instructions
    const int64_t ways = (r.ebx >> 22) + 1, partitions = ((r.ebx >> 12) & 1023U) + 1, line = (r.ebx & 4095U) + 1, sets = int64_t{r.ecx} + 1;
    record_cache(c, static_cast<int>((r.eax >> 5) & 7U), ways * partitions * line * sets, static_cast<int>(ways));
  }
  return c;
}

bool is_virtual_machine() { return (cpuid(1).ecx & (1U << 31)) != 0; }

FeatureSet host_features() {
  FeatureSet set = 0;
  for (const FeatureBit& b : kBits)
    if ((cpuid(b.leaf, b.subleaf).*b.reg >> b.bit) & 1U) set |= bit(b.feature);
  const uint64_t state = enabled_register_state();
  if ((state & 0x6) != 0x6) set &= ~(kNeedsYmm | needs_zmm());
  if ((state & 0xe6) != 0xe6) set &= ~needs_zmm();
  return set;
}

std::string host_cpu_name() {
  const Regs id = cpuid(0), version = cpuid(1);
  std::array<char, 12> vendor{};
  std::memcpy(vendor.data(), &id.ebx, 4);
  std::memcpy(vendor.data() + 4, &id.edx, 4);
  std::memcpy(vendor.data() + 8, &id.ecx, 4);
  int family = static_cast<int>((version.eax >> 8) & 15U);
  int model = static_cast<int>((version.eax >> 4) & 15U);
  if (family == 6 || family == 15) model += static_cast<int>((version.eax >> 16) & 15U) << 4;
  if (family == 15) family += static_cast<int>((version.eax >> 20) & 255U);
  return cpu_name({vendor.data(), vendor.size()}, family, model, host_features());
}

#elif defined(__aarch64__)

CacheSizes caches_from_cpuid() { return {}; }
bool is_virtual_machine() { return false; }

/// Source: Linux, Documentation/arch/arm64/elf_hwcaps.rst.
FeatureSet host_features() {
  const unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  const auto has = [](unsigned long word, int at) { return (word >> at & 1) != 0; };
  FeatureSet set = bit(ArmFeature::neon);
  if (has(first, 9) && has(first, 10)) set |= bit(ArmFeature::fullfp16);
  if (has(first, 20)) set |= bit(ArmFeature::dotprod);
  if (has(second, 14)) set |= bit(ArmFeature::bf16);
  if (has(second, 13)) set |= bit(ArmFeature::i8mm);
  if (has(first, 22)) set |= bit(ArmFeature::sve);
  if (has(first, 22) && has(second, 1)) set |= bit(ArmFeature::sve2);
  return set;
}

std::string host_cpu_name() {
  constexpr int kCpuid = 11;  // of the first word: the system answers reads of the register
  uint64_t id = 0;
  if ((getauxval(AT_HWCAP) >> kCpuid & 1) != 0) asm("mrs %0, midr_el1" : "=r"(id));
  return arm_cpu_name(static_cast<int>(id >> 24 & 255), static_cast<int>(id >> 4 & 4095), host_features());
}

/// Of this processor in bits; 0 without SVE.
int host_sve_bits() {
  const int length = prctl(PR_SVE_GET_VL);
  return length < 0 ? 0 : 8 * (length & PR_SVE_VL_LEN_MASK);
}

#else

CacheSizes caches_from_cpuid() { return {}; }
bool is_virtual_machine() { return false; }
FeatureSet host_features() { return 0; }
std::string host_cpu_name() { return "x86-64"; }

#endif

std::optional<int> quota_cores(const std::filesystem::path& mount, const std::string& groups) {
  std::optional<int> least;
  const auto limit = [&](double quota, double period) {
    if (quota > 0 && period > 0) least = std::min(least.value_or(INT_MAX), static_cast<int>(std::clamp(quota / period, 1.0, 1e6)));
  };
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool both = controllers.empty();  // one tree for all controllers, the second edition
    if (!both && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    const std::filesystem::path top = both ? mount : mount / controllers;
    // A group is limited by those around it too. In a container its path may be one of the machine's, of which only the top is there.
    for (std::filesystem::path at = std::filesystem::path(line.substr(second + 1)).relative_path();; at = at.parent_path()) {
      double quota = 0, period = 0;
      if (both) {
        if (std::ifstream(top / at / "cpu.max") >> quota >> period) limit(quota, period);
      } else if (std::ifstream(top / at / "cpu.cfs_quota_us") >> quota && std::ifstream(top / at / "cpu.cfs_period_us") >> period) {
        limit(quota, period);
      }
      if (at.empty()) break;
    }
  }
  return least;
}

std::optional<int> host_quota() {
  std::ostringstream groups;
  groups << std::ifstream("/proc/self/cgroup").rdbuf();
  return quota_cores("/sys/fs/cgroup", groups.str());
}

int host_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, std::min(allowed, host_quota().value_or(allowed)));
}

}  // namespace target

Target host_target() {
  target::FeatureSet features = target::host_features();
  Target t;
  t.cpu = target::host_cpu_name();
  const target::CpuInfo* known = target::find_cpu(t.cpu);
  TW_ASSERT(known != nullptr, "processor name without a table row: " + t.cpu);
#if defined(__aarch64__)
  // Code for vectors of one length runs on no other: a processor with another length than its name implies counts as one with NEON.
  if (target::host_sve_bits() != known->sve_bits) features &= ~(target::bit(target::ArmFeature::sve) | target::bit(target::ArmFeature::sve2));
#endif
  t.features = target::feature_delta(known->features, features);
  t.vector_bits = target::vector_bits(features, known->sve_bits);
  t.vector_registers = target::vector_registers(features);
  t.cores = target::host_cores();
  const int cpu = std::max(0, sched_getcpu());
  const auto sys = target::caches_from_sysfs("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache");
  const auto id = target::caches_from_cpuid();
  t.l1d_bytes = target::first_known(sys.l1d_bytes, id.l1d_bytes, known->l1d_kb * 1024);
  t.l1d_ways = target::first_known(sys.l1d_ways, id.l1d_ways, known->l1d_ways);
  t.l2_bytes = target::first_known(sys.l2_bytes, id.l2_bytes, known->l2_kb * 1024);
  t.l3_bytes = target::first_known(sys.l3_bytes, id.l3_bytes, known->l3_kb * 1024);
  const int64_t usual = known->l3_kb * 1024 / known->l3_cores;
  const int64_t told = sys.l3_cores > 0 ? t.l3_bytes / sys.l3_cores : usual;
  t.l3_share_bytes = target::is_virtual_machine() ? std::min(told, usual) : told;
  return t;
}

}  // namespace tw
