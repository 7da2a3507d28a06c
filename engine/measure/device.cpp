// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/device.h"

#include <charconv>
#include <cstdlib>

#include "engine/base/text.h"
#include "engine/codegen/cuda/nvrtc.h"
#include "engine/measure/gpu_runner.h"
#include "engine/measure/simulated_gpu.h"
#include "engine/runtime/cuda_device.h"
#include "engine/runtime/cuda_driver.h"
#include "engine/target/cpu_table.h"

namespace tw::measure {

namespace {

constexpr std::string_view kSimulated = "sim:", kCuda = "cuda:";

Error not_for(const std::string& name, const Target& target, const std::string& wanted) {
  return Error(ErrorCode::invalid_argument, fmt::format("Expected {} for code for '{}', found '{}'", wanted, target.str(), printable(name)), "device");
}

}  // namespace

std::string device_for(const Target& target) {
  if (!target.gpu) return kLocalDevice;
  const auto count = check_toolkit() ? runtime::cuda_device_count() : Expected<int>(0);
  for (int i = 0; count && i < *count; ++i) {
    const auto gpu = runtime::cuda_properties(i);
    const auto here = gpu ? target_of(*gpu) : Expected<Target>(gpu.error());
    if (here && here->gpu->name == target.gpu->name) return fmt::format("{}{}", kCuda, i);
  }
  return fmt::format("{}{}", kSimulated, target.gpu->name);
}

bool is_simulated(std::string_view device) { return device.starts_with(kSimulated); }

std::optional<int> cuda_ordinal(std::string_view device) {
  if (!device.starts_with(kCuda)) return std::nullopt;
  device.remove_prefix(kCuda.size());
  int ordinal = -1;
  const auto [end, error] = std::from_chars(device.data(), device.data() + device.size(), ordinal);
  if (error != std::errc() || end != device.data() + device.size() || ordinal < 0) return std::nullopt;
  return ordinal;
}

Expected<const target::Gpu*> simulated_gpu_named(std::string_view device) {
  const target::Gpu* gpu = is_simulated(device) ? target::find_gpu(device.substr(kSimulated.size())) : nullptr;
  if (gpu) return gpu;
  std::vector<std::string> names;
  for (const target::Gpu& g : target::gpu_table()) names.push_back(g.name);
  return Error(ErrorCode::invalid_argument,
               fmt::format("Expected '{}' and one of {}, found '{}'", kSimulated, fmt::join(names, ", "), printable(std::string(device))), "device");
}

Expected<void> check_toolkit() {
  TW_TRY(const std::string driver, runtime::cuda_driver_version());  // first: opening NVRTC takes a fifth of a second
  TW_TRY(const std::string nvrtc, codegen::nvrtc_version());
  const int compiled_for = std::atoi(nvrtc.c_str() + nvrtc.find(' ') + 1), known = std::atoi(driver.c_str());
  if (compiled_for <= known) return {};
  return Error(ErrorCode::version, fmt::format("Expected a driver of CUDA {} or newer for the code of {}, found one of CUDA {}", compiled_for, nvrtc, driver));
}

Expected<Target> target_named(const std::string& text) {
  if (text != "cuda" && text != "cuda,tf32") return parse_target(text);
  TW_TRY(const runtime::GpuProperties gpu, runtime::cuda_properties(0));
  TW_TRY(Target here, target_of(gpu));
  return text == "cuda" ? Expected<Target>(std::move(here)) : allow_tf32(std::move(here), text);
}

Expected<Target> target_of(const runtime::GpuProperties& gpu) {
  const auto like = target::gpu_like(gpu.name, gpu.capability, gpu.memory_bytes, gpu.multiprocessors);
  if (!like)
    return Error(ErrorCode::unsupported,
                 fmt::format("Expected a GPU of a compute capability in the table, found {} with {}", printable(gpu.name), target::arch_name(gpu.capability)));
  return gpu_target(*like);
}

Expected<Device> open_device(const std::string& name, const Target& target, const WorkerOptions& workers) {
  if (is_simulated(name)) {
    TW_TRY(const target::Gpu* gpu, simulated_gpu_named(name));
    if (!target.gpu) return not_for(name, target, fmt::format("the device '{}'", kLocalDevice));
    if (target.gpu->name != gpu->name) return not_for(name, target, fmt::format("the device '{}{}'", kSimulated, target.gpu->name));
    return Device{name, true, simulated_gpu_builder(), simulated_gpu_runner()};
  }
  if (const auto ordinal = cuda_ordinal(name)) {
    if (!target.gpu) return not_for(name, target, fmt::format("the device '{}'", kLocalDevice));
    TW_TRY(const runtime::GpuProperties gpu, runtime::cuda_properties(*ordinal));
    if (gpu.capability != target.gpu->capability)
      return not_for(name, target,
                     fmt::format("a GPU of {}, where '{}' is {} of {},", target::arch_name(target.gpu->capability), name, printable(gpu.name),
                                 target::arch_name(gpu.capability)));
    TW_CHECK(check_toolkit());
    TW_TRY(auto builder, local_builder(workers));
    TW_TRY(auto runner, gpu_runner(name, workers));
    return Device{name, false, std::move(builder), std::move(runner)};
  }
  if (name != kLocalDevice)
    return Error(ErrorCode::invalid_argument,
                 fmt::format("Expected '{}', '{}' and a number, or '{}' and the name of a GPU, found '{}'", kLocalDevice, kCuda, kSimulated, printable(name)),
                 "device");
  if (target.gpu) return not_for(name, target, fmt::format("the device '{}{}' or a GPU such as '{}0'", kSimulated, target.gpu->name, kCuda));
  if (target::arch_of(target) != target::own_arch())
    return not_for(name, target, fmt::format("a device of a farm, such as 'farm:board', for {} on this machine, which is {},", target::arch_name(target::arch_of(target)),
                                             target::arch_name(target::own_arch())));
  TW_TRY(auto builder, local_builder(workers));
  TW_TRY(auto runner, local_runner(workers));
  return Device{name, false, std::move(builder), std::move(runner)};
}

}  // namespace tw::measure
