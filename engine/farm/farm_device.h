// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/farm/queue.h"
#include "engine/measure/device.h"

namespace tw::farm {

/// How a session puts work into the queue of a farm's device; without a name of its own it gets one. Errors: invalid_argument for another device; those of read_farm;
/// not_found for a kind that the farm has not.
Expected<Queue::Options> queue_of_device(const std::string& name, const std::string& session = {});

/// As measure::open_device, and `farm:KIND`, `farm:KIND@FARM`, `farm:KIND/PRIORITY`: devices of a farm. Code is built here. `session` names what is measured: with the
/// same name after a restart, results that waited for it at the farm are used.
/// Errors: those of measure::open_device; not_found for a farm that is not there; those of its server.
Expected<measure::Device> open_device(const std::string& name, const Target& target, const measure::WorkerOptions& workers, const std::string& session);

}  // namespace tw::farm
