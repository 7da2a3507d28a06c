// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/measure/measure.h"
#include "engine/runtime/gpu_device.h"

namespace tw::measure {

/// What candidates are built for and timed on.
struct Device {
  std::string name;
  bool simulated = false;  ///< its times are estimates; whatever shows them says so
  std::unique_ptr<Builder> builder;
  std::unique_ptr<Runner> runner;
};

inline constexpr const char* kLocalDevice = "local";

/// `local`: this machine's processors. `cuda:0` and so on: a GPU of this machine. `sim:a100` and so on: a GPU of the table as a formula, wherever this runs.
/// Errors: invalid_argument for other names, and for a device that does not run code for the target; what opening it gives.
Expected<Device> open_device(const std::string& name, const Target& target, const WorkerOptions& workers);

/// The device that there is for a target: `local`; a GPU of this machine of the target's name, if the driver and NVRTC serve it; else `sim:` and the name.
std::string device_for(const Target& target);
/// The GPU of a name such as `cuda:0`; nothing for other names.
std::optional<int> cuda_ordinal(std::string_view device);
/// The GPU of a name such as `sim:a100`. Errors: invalid_argument.
Expected<const target::Gpu*> simulated_gpu_named(std::string_view device);
/// Whether NVRTC is there and makes code that the driver takes: of its own major version or an older one. Errors: not_found without NVRTC; version for a driver
/// that is too old, naming both; those of the driver.
Expected<void> check_toolkit();
/// As parse_target, and `cuda` for the first GPU of this machine. Errors: those of parse_target, cuda_properties and target_of.
Expected<Target> target_named(const std::string& text);
/// A target for a GPU of this machine. Errors: of the driver; unsupported for one that the table knows nothing like.
Expected<Target> target_of(const runtime::GpuProperties& gpu);
/// Whether the name is one of a simulated device.
bool is_simulated(std::string_view device);

}  // namespace tw::measure
