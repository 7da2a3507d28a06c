// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/farm_device.h"

#include "engine/base/text.h"
#include "engine/farm/farm_runner.h"

namespace tw::farm {

Expected<Queue::Options> queue_of_device(const std::string& name, const std::string& session) {
  TW_TRY(const DeviceName device, parse_device_name(name));
  TW_TRY(const FarmFile farm, read_farm(device.farm));
  TW_CHECK(farm.agent(device.kind));
  Queue::Options options;
  options.access = farm.session();
  options.kind = device.kind;
  options.session = session.empty() ? random_hex(12) : session;
  options.priority = device.priority;
  return options;
}

Expected<measure::Device> open_device(const std::string& name, const Target& target, const measure::WorkerOptions& workers, const std::string& session) {
  if (!is_farm_device(name)) return measure::open_device(name, target, workers);
  TW_TRY(Queue::Options options, queue_of_device(name, session));
  auto builder = measure::local_builder(workers);
  if (!builder) return builder.error();
  auto runner = FarmRunner::open(std::move(options), workers);
  if (!runner) return runner.error();
  return measure::Device{name, false, std::move(*builder), std::move(*runner)};
}

}  // namespace tw::farm
