// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/network_runner.h"

#include <chrono>

#include "engine/base/json.h"
#include "engine/measure/worker.h"

namespace tw::measure {

namespace {

class WorkerNetworkRunner final : public NetworkRunner {
 public:
  WorkerNetworkRunner(std::string worker, const WorkerOptions& options, std::function<void(const std::string&)> notice)
      : link_(std::move(worker), "network", options.memory_bytes) {
    link_.notice = std::move(notice);
  }

  Expected<NetworkTimes> run(const NetworkJob& job, StopToken stop) override {
    const process::StopFd stop_fd(stop);
    TW_TRY(process::Frame frame, link_.exchange(to_json(job), {}, kQueueSeconds, stop_fd));
    if (frame.header.contains("started")) {
      const double limit = kStartupSeconds + job.run_limit_s + kPatience;
      TW_TRY(frame, link_.wait_for_frame(std::chrono::steady_clock::now() + process::in_seconds(limit), stop_fd));
    }
    auto times = network_times_from_frame(frame, job);
    // On a GPU the worker itself is the fresh process; and one that talks rubbish is not asked again.
    if (!job.device.empty() || (!times && times.error().code == ErrorCode::parse_error)) link_.drop();
    return times;
  }

 private:
  WorkerLink link_;
};

}  // namespace

Expected<std::unique_ptr<NetworkRunner>> network_runner(const WorkerOptions& options, std::function<void(const std::string&)> notice) {
  TW_TRY(std::string worker, find_worker(options.worker_path));
  return std::unique_ptr<NetworkRunner>(std::make_unique<WorkerNetworkRunner>(std::move(worker), options, std::move(notice)));
}

}  // namespace tw::measure
