// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

#include "engine/base/stop_token.h"
#include "engine/measure/network_run.h"
#include "engine/measure/network_runner.h"

namespace tw::farm {

/// A compiled network that ran on a device of a farm.
struct RanOnDevice {
  measure::NetworkRunTimes times;
  std::string device;
  bool emulated = false;  ///< by an emulator: the values are right, the times say nothing of a processor
};

/// Sends a compiled network and its inputs to the next free device of the kind that `farm:KIND` names, and waits for what comes of it. `notice` is told what a
/// person should know meanwhile. Errors: those of parse_device_name and Queue::open; wrong_result with what went wrong there; infrastructure if the device
/// refuses it; resource_limit; cancelled.
Expected<RanOnDevice> run_on_device(const std::string& name, const runtime::Executable& executable, const std::map<std::string, HostArray>& inputs,
                                    measure::NetworkRun run, const std::function<void(const std::string&)>& notice, StopToken stop);

/// Variants of a network race each other on one device of the kind that `farm:KIND` names (measure::NetworkRunner): the next free one, and that one again for all
/// that follow, as times of different devices do not compare. What variants have in common, such as weights, travels once for each race. Errors: as above; a
/// device that is gone for a minute is infrastructure.
Expected<std::unique_ptr<measure::NetworkRunner>> network_runner(const std::string& name, std::function<void(const std::string&)> notice);

}  // namespace tw::farm
