// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/device.h"

namespace tw::farm {

/// As measure::open_device, and `farm:KIND`, `farm:KIND@FARM`, `farm:KIND/PRIORITY`: devices of a farm. Code is built here. `session` names what is measured: with the
/// same name after a restart, results that waited for it at the farm are used.
/// Errors: those of measure::open_device; not_found for a farm that is not there; those of its server.
Expected<measure::Device> open_device(const std::string& name, const Target& target, const measure::WorkerOptions& workers, const std::string& session);

}  // namespace tw::farm
