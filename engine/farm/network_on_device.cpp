// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/network_on_device.h"

#include <algorithm>

#include "engine/base/json.h"
#include "engine/base/sha256.h"
#include "engine/base/text.h"
#include "engine/farm/farm_device.h"
#include "engine/target/target.h"

namespace tw::farm {

namespace {

constexpr double kReceiveSeconds = 0.5, kSayEvery = 5;
constexpr double kGoneSeconds = 60;  ///< after which a device that is to go on will not come back

/// A session whose jobs are networks, one at a time.
class NetworkSession {
 public:
  static Expected<std::unique_ptr<NetworkSession>> open(const std::string& name, std::function<void(const std::string&)> notice) {
    TW_TRY(const DeviceName device, parse_device_name(name));
    TW_TRY(Queue::Options options, queue_of_device(name));
    options.notice = notice;
    std::unique_ptr<NetworkSession> made(new NetworkSession(name, device, options, std::move(notice)));
    TW_CHECK(made->queue_.open());
    return made;
  }

  /// What came of a question to a measuring worker with these bytes, for one device or, if that is empty, any.
  Expected<Result> run(const std::string& code, const Json& question, std::vector<std::byte> bytes, const std::string& device, StopToken stop) {
    TW_TRY(const Target target, parse_target(code));
    if (target.gpu)
      return Error(ErrorCode::invalid_argument, fmt::format("Expected a network for processors for the device '{}', found one for '{}'", printable(name_), code), "device");
    const auto shared = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    Job job;
    job.trial = fmt::format("network-{}-{}", options_.session, ++asked_);
    job.session = options_.session;
    job.kind = device_.kind;
    job.target = code;
    job.sha = sha256_hex(*shared);
    job.bytes = static_cast<int64_t>(shared->size());
    job.measure = question;
    TW_CHECK(queue_.put(job, shared, device, stop));
    auto said = Clock::now(), here = said;
    while (!stop.stop_requested()) {
      TW_TRY(const auto results, queue_.receive(kReceiveSeconds, stop));
      for (const Result& r : results) {
        if (r.trial != job.trial) continue;
        static_cast<void>(queue_.settle());
        if (!r.refused.empty()) return Error(ErrorCode::infrastructure, fmt::format("The device '{}' could not run it: {}", r.device, r.refused));
        return r;
      }
      if (is_here(device)) here = Clock::now();
      if (!device.empty() && since(here) > kGoneSeconds) {
        queue_.cancel();
        return Error(ErrorCode::infrastructure, fmt::format("The device '{}', which ran the network so far, has not been heard of for {:g} s", device, kGoneSeconds));
      }
      if (since(said) < kSayEvery || since(here) < kSayEvery) continue;
      said = Clock::now();
      notice_(device.empty() ? fmt::format("Waiting for a device of kind '{}' of the farm '{}'", device_.kind, device_.farm) : fmt::format("Waiting for the device '{}'", device));
    }
    queue_.cancel();
    return Error(ErrorCode::cancelled, "Stopped before the network ran");
  }

  bool is_emulated(const std::string& device) const {
    const auto seen = queue_.devices().find(device);
    return seen != queue_.devices().end() && seen->second.presence.emulated;
  }

 private:
  NetworkSession(std::string name, DeviceName device, const Queue::Options& options, std::function<void(const std::string&)> notice)
      : name_(std::move(name)), device_(std::move(device)), options_(options), queue_(options), notice_(std::move(notice)) {}
  /// Without a name: any of the kind.
  bool is_here(const std::string& device) const {
    if (!device.empty()) return queue_.is_here(device);
    return std::any_of(queue_.devices().begin(), queue_.devices().end(), [&](const auto& d) { return queue_.is_here(d.first); });
  }

  const std::string name_;
  const DeviceName device_;
  const Queue::Options options_;
  Queue queue_;
  std::function<void(const std::string&)> notice_;
  int asked_ = 0;
};

class DeviceNetworkRunner final : public measure::NetworkRunner {
 public:
  DeviceNetworkRunner(std::unique_ptr<NetworkSession> session, std::function<void(const std::string&)> notice) : session_(std::move(session)), notice_(std::move(notice)) {}

  Expected<measure::NetworkTimes> run(const measure::NetworkJob& job, StopToken stop) override {
    std::vector<std::shared_ptr<const runtime::Executable>> networks;
    int64_t memory = 0;
    for (const std::string& file : job.files) {
      TW_TRY(runtime::Executable e, runtime::load_executable(file));
      memory += measure::network_memory_bytes(e, 0);
      networks.push_back(std::make_shared<const runtime::Executable>(std::move(e)));
    }
    std::vector<std::byte> bytes = measure::networks_bytes(networks);
    memory += 3 * static_cast<int64_t>(bytes.size());
    TW_TRY(const Result r, session_->run(networks.front()->target, measure::race_json(job, memory), std::move(bytes), device_, stop));
    if (device_.empty()) {
      device_ = r.device;
      notice_(fmt::format("The network runs on the device '{}'{}", device_, session_->is_emulated(device_) ? ", an emulator, whose times say nothing of a processor" : ""));
    }
    return measure::network_times_from_frame(r.reply, job);
  }

 private:
  std::unique_ptr<NetworkSession> session_;
  std::function<void(const std::string&)> notice_;
  std::string device_;  ///< that runs them; empty before the first one
};

}  // namespace

Expected<RanOnDevice> run_on_device(const std::string& name, const runtime::Executable& executable, const std::map<std::string, HostArray>& inputs,
                                    measure::NetworkRun run, const std::function<void(const std::string&)>& notice, StopToken stop) {
  TW_TRY(const auto session, NetworkSession::open(name, notice));
  std::vector<std::byte> bytes = measure::network_bytes(executable, inputs);
  run.memory_bytes = measure::network_memory_bytes(executable, bytes.size());
  TW_TRY(const Result r, session->run(executable.target, measure::to_json(run), std::move(bytes), "", stop));
  RanOnDevice out;
  out.device = r.device;
  out.emulated = session->is_emulated(r.device);
  TW_TRY(out.times, measure::network_run_from_frame(r.reply, run, executable));
  return out;
}

Expected<std::unique_ptr<measure::NetworkRunner>> network_runner(const std::string& name, std::function<void(const std::string&)> notice) {
  if (!notice) notice = [](const std::string&) {};
  TW_TRY(auto session, NetworkSession::open(name, notice));
  return std::unique_ptr<measure::NetworkRunner>(std::make_unique<DeviceNetworkRunner>(std::move(session), std::move(notice)));
}

}  // namespace tw::farm
