// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/network_on_device.h"

#include <algorithm>

#include "engine/base/json.h"
#include "engine/base/sha256.h"
#include "engine/base/text.h"
#include "engine/farm/queue.h"
#include "engine/target/target.h"

namespace tw::farm {

namespace {

constexpr double kReceiveSeconds = 0.5, kSayEvery = 5;

}  // namespace

Expected<RanOnDevice> run_on_device(const std::string& name, const runtime::Executable& executable, const std::map<std::string, HostArray>& inputs,
                                    measure::NetworkRun run, const std::function<void(const std::string&)>& notice, StopToken stop) {
  TW_TRY(const DeviceName device, parse_device_name(name));
  TW_TRY(const Target target, parse_target(executable.target));
  if (target.gpu)
    return Error(ErrorCode::invalid_argument,
                 fmt::format("Expected a network for processors for the device '{}', found one for '{}'", printable(name), executable.target), "device");
  TW_TRY(const FarmFile farm, read_farm(device.farm));
  TW_CHECK(farm.agent(device.kind));
  Queue::Options options;
  options.access = farm.session();
  options.kind = device.kind;
  options.session = random_hex(12);
  options.priority = device.priority;
  options.notice = notice;
  Queue queue(options);
  TW_CHECK(queue.open());
  const auto bytes = std::make_shared<const std::vector<std::byte>>(measure::network_bytes(executable, inputs));
  run.memory_bytes = measure::network_memory_bytes(executable, bytes->size());
  Job job;
  job.trial = "network-" + options.session;
  job.session = options.session;
  job.kind = device.kind;
  job.target = executable.target;
  job.sha = sha256_hex(*bytes);
  job.bytes = static_cast<int64_t>(bytes->size());
  job.measure = measure::to_json(run);
  TW_CHECK(queue.put(job, bytes, "", stop));
  auto said = Clock::now();
  while (!stop.stop_requested()) {
    TW_TRY(const auto results, queue.receive(kReceiveSeconds, stop));
    for (const Result& r : results) {
      if (r.trial != job.trial) continue;
      static_cast<void>(queue.settle());
      if (!r.refused.empty()) return Error(ErrorCode::infrastructure, fmt::format("The device '{}' could not run it: {}", r.device, r.refused));
      RanOnDevice out;
      out.device = r.device;
      const auto seen = queue.devices().find(r.device);
      out.emulated = seen != queue.devices().end() && seen->second.presence.emulated;
      TW_TRY(out.times, measure::network_run_from_frame(r.reply, run, executable));
      return out;
    }
    if (since(said) < kSayEvery) continue;
    said = Clock::now();
    const bool here = std::any_of(queue.devices().begin(), queue.devices().end(), [&](const auto& d) { return queue.is_here(d.first); });
    if (!here) notice(fmt::format("Waiting for a device of kind '{}' of the farm '{}'", device.kind, device.farm));
  }
  queue.cancel();
  return Error(ErrorCode::cancelled, "Stopped before the network ran");
}

}  // namespace tw::farm
