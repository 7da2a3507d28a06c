// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/device.h"

#include "engine/base/text.h"
#include "engine/measure/simulated_gpu.h"

namespace tw::measure {

namespace {

constexpr std::string_view kSimulated = "sim:";

Error not_for(const std::string& name, const Target& target, const std::string& wanted) {
  return Error(ErrorCode::invalid_argument, fmt::format("Expected {} for code for '{}', found '{}'", wanted, target.str(), printable(name)), "device");
}

}  // namespace

std::string device_for(const Target& target) { return target.gpu ? std::string(kSimulated) + target.gpu->name : kLocalDevice; }

bool is_simulated(std::string_view device) { return device.starts_with(kSimulated); }

Expected<Device> open_device(const std::string& name, const Target& target, const WorkerOptions& workers) {
  if (is_simulated(name)) {
    const target::Gpu* gpu = target::find_gpu(std::string_view(name).substr(kSimulated.size()));
    if (!gpu) {
      std::vector<std::string> names;
      for (const target::Gpu& g : target::gpu_table()) names.push_back(g.name);
      return Error(ErrorCode::invalid_argument, fmt::format("Expected '{}' and one of {}, found '{}'", kSimulated, fmt::join(names, ", "), printable(name)),
                   "device");
    }
    if (!target.gpu) return not_for(name, target, fmt::format("the device '{}'", kLocalDevice));
    if (target.gpu->name != gpu->name) return not_for(name, target, fmt::format("the device '{}{}'", kSimulated, target.gpu->name));
    return Device{name, true, simulated_gpu_builder(), simulated_gpu_runner()};
  }
  if (name != kLocalDevice)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected '{}' or '{}' and the name of a GPU, found '{}'", kLocalDevice, kSimulated, printable(name)),
                 "device");
  if (target.gpu) return not_for(name, target, fmt::format("the device '{}{}'", kSimulated, target.gpu->name));
  TW_TRY(auto builder, local_builder(workers));
  TW_TRY(auto runner, local_runner(workers));
  return Device{name, false, std::move(builder), std::move(runner)};
}

}  // namespace tw::measure
