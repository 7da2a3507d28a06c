// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/gpu_monitor.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>

#include "engine/base/text.h"

namespace tw::runtime {

namespace {

// nvml.h
constexpr int kClockSm = 1, kSensorGpu = 0;
constexpr uint64_t kPowerCap = 0x4, kProtection = 0x8 | 0x20 | 0x40 | 0x80;  ///< hardware, heat by driver, heat by hardware, power brake
struct ProcessInfo {
  unsigned pid;
  unsigned long long bytes;
  unsigned instance, compute_instance;
};

struct Nvml {
  int (*init)();
  int (*by_uuid)(const char*, void**);
  int (*clock)(void*, int, unsigned*);
  int (*most_clock)(void*, int, unsigned*);
  int (*temperature)(void*, int, unsigned*);
  int (*reasons)(void*, unsigned long long*);
  int (*processes)(void*, unsigned*, ProcessInfo*);
};

Expected<Nvml> open_nvml() {
  const char* named = std::getenv("TW_NVML");
  const std::string file = named ? named : "libnvidia-ml.so.1";
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  Nvml n{};
  const char* missing = nullptr;
  const auto take = [&](auto& function, const char* name) {
    function = library ? reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name)) : nullptr;
    if (!function) missing = name;
  };
  take(n.init, "nvmlInit_v2");
  take(n.by_uuid, "nvmlDeviceGetHandleByUUID");
  take(n.clock, "nvmlDeviceGetClockInfo");
  take(n.most_clock, "nvmlDeviceGetMaxClockInfo");
  take(n.temperature, "nvmlDeviceGetTemperature");
  take(n.reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  take(n.processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  if (!library) return Error(ErrorCode::not_found, fmt::format("Expected NVIDIA's management library ({}) on this machine, found none", printable(file)));
  if (missing) return Error(ErrorCode::not_found, fmt::format("Expected {} in NVIDIA's management library, found none", missing), file);
  if (const int code = n.init(); code != 0)
    return Error(ErrorCode::infrastructure, fmt::format("Expected NVIDIA's management library to start, found error {}", code), file);
  return n;
}

const Expected<Nvml>& opened_nvml() {
  static const Expected<Nvml> opened = open_nvml();
  return opened;
}

/// The parent of a process, 0 if that cannot be read.
int parent_of(int process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  std::getline(file, line);
  int parent = 0;
  if (const size_t name = line.rfind(") "); name != std::string::npos) std::sscanf(line.c_str() + name + 2, "%*c %d", &parent);
  return parent;
}

std::filesystem::path program_folder(int process) {
  std::error_code hidden;
  return std::filesystem::read_symlink(fmt::format("/proc/{}/exe", process), hidden).parent_path();
}

/// Of those that compute on a GPU, how many are neither this process nor started by it or by the program whose worker it is.
int strangers_among(std::span<const ProcessInfo> found) {
  const int self = getpid(), parent = getppid();
  if (std::none_of(found.begin(), found.end(), [&](const ProcessInfo& p) { return static_cast<int>(p.pid) == self; })) return 0;
  const int root = program_folder(parent) == program_folder(self) ? parent : self;
  return static_cast<int>(std::count_if(found.begin(), found.end(), [&](const ProcessInfo& p) {
    int process = static_cast<int>(p.pid);
    while (process > 0 && process != root) process = parent_of(process);
    return process != root;
  }));
}

}  // namespace

bool GpuCondition::power_capped() const { return (slowed & kPowerCap) != 0; }
bool GpuCondition::protecting_itself() const { return (slowed & kProtection) != 0; }

Expected<GpuMonitor> GpuMonitor::open(const std::string& uuid) {
  TW_TRY(const Nvml n, opened_nvml());
  std::string text = "GPU-" + uuid;  // groups of 8, 4, 4, 4 and 12 digits
  for (const size_t at : {12, 17, 22, 27})
    if (at < text.size()) text.insert(at, "-");
  void* device = nullptr;
  if (const int code = n.by_uuid(text.c_str(), &device); code != 0)
    return Error(ErrorCode::not_found, fmt::format("Expected '{}' in NVIDIA's management library, found error {}", printable(text), code));
  return GpuMonitor(device);
}

Expected<GpuCondition> GpuMonitor::condition() const {
  TW_TRY(const Nvml n, opened_nvml());
  unsigned clock = 0, most = 0, celsius = 0;
  unsigned long long reasons = 0;
  std::array<ProcessInfo, 64> infos{};
  auto count = static_cast<unsigned>(infos.size());
  for (const int code : {n.clock(device_, kClockSm, &clock), n.most_clock(device_, kClockSm, &most), n.temperature(device_, kSensorGpu, &celsius),
                         n.reasons(device_, &reasons), n.processes(device_, &count, infos.data())})
    if (code != 0) return Error(ErrorCode::infrastructure, fmt::format("Expected the condition of a GPU, found error {}", code));
  return GpuCondition{static_cast<int>(clock), static_cast<int>(most), static_cast<int>(celsius), reasons,
                      strangers_among(std::span(infos).first(std::min<size_t>(count, infos.size())))};
}

}  // namespace tw::runtime
