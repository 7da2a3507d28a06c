// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/farm/farm_file.h"
#include "engine/farm/jetstream.h"
#include "engine/farm/messages.h"

namespace tw::farm {

/// One queue of jobs: those for any device of a kind by urgency, and those for one device.
struct QueueState {
  std::string kind, queue;
  QueueLength length;
};

struct Survey {
  std::vector<Presence> devices;  ///< that answered, by kind and name
  std::vector<QueueState> queues;
  int64_t results = 0;  ///< that wait for their sessions
};
/// Asks a farm's server and all devices how they are. Devices have `patience_s` to answer. Errors: those of connecting.
Expected<Survey> survey(const FarmFile& farm, double patience_s = 0.5);

/// Asks a device to do something: drain, resume, quarantine (with a reason), release, recycle, self-test, log. Errors: not_found if no device of the name answers;
/// infrastructure with what it says.
Expected<Json> tell_device(const FarmFile& farm, const std::string& device, const Json& question);

/// What devices are told by hand; all but "log", which answers with lines.
struct DeviceCommand {
  const char* name;
  const char* help;  ///< what the device does then
};
const std::vector<DeviceCommand>& device_commands();
/// `reason`: of a quarantine. Returns how the device is then. Errors: as tell_device.
Expected<Presence> command_device(const FarmFile& farm, const std::string& device, const std::string& command, const std::string& reason = {});

}  // namespace tw::farm
