// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/expected.h"

namespace tw::farm {

/// What a device keeps while its agent is away.
struct DeviceState {
  std::string quarantine;  ///< why it takes no jobs; empty: it does
};
/// Of a folder without one, a device in good order.
DeviceState read_device_state(const std::string& folder);
Expected<void> write_device_state(const std::string& folder, const DeviceState& state);

/// The hottest zone that the system knows, and the clock of the first processor; 0 where it knows none.
double machine_temperature_c();
double machine_clock_hz();
int64_t free_bytes_of(const std::string& folder);

}  // namespace tw::farm
