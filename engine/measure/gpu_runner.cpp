// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/gpu_runner.h"

#include <algorithm>
#include <chrono>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/gpu_link.h"
#include "engine/measure/judge.h"
#include "engine/measure/process_runner.h"
#include "engine/measure/worker.h"
#include "engine/target/bounds.h"

namespace tw::measure {

namespace {

using records::Status;
using Clock = std::chrono::steady_clock;

class GpuRunner final : public ProcessRunner {
 public:
  GpuRunner(std::string worker, std::string device, const WorkerOptions& options)
      : ProcessRunner(std::move(worker), "gpu", options), device_(std::move(device)) {}

 private:
  Expected<Answer> ask(const MeasureJob& job, const runtime::Artifact& artifact, const process::StopFd& stop_fd) override {
    if (artifact.gpu.size() != 1 || artifact.gpu[0].images.size() > 1)
      return Error(ErrorCode::infrastructure, fmt::format("Expected one kernel with one image, found {}", artifact.gpu.size()));
    const runtime::GpuFunction& f = artifact.gpu[0];
    Json header = to_json(job);
    header["device"] = device_;
    header["gpu"] = runtime::to_json(f);
    const auto start = Clock::now();
    const auto image = f.images.empty() ? std::span<const std::byte>() : std::span<const std::byte>(f.images.begin()->second);
    TW_TRY(const process::Frame frame, gpu_.measure(header, job, image, stop_fd));
    const double wall_s = std::chrono::duration<double>(Clock::now() - start).count();
    TW_TRY(MeasureReply reply, reply_in(frame, job));
    return Answer{std::move(reply), wall_s};
  }

  void check_floor(const records::Task& task, const MeasureJob&, records::MeasureResult& result, const process::StopFd&) override {
    if (!task.target.gpu) return;
    const double floor = physical_floor_s(*task.dag, target::most_flops(task.target), target::most_narrow_speedup(task.target));
    if (result.seconds() >= floor) return;
    result.message = fmt::format("{} is less than the {} that {} needs for the task's arithmetic", si_text(result.seconds(), "s"), si_text(floor, "s"),
                                 task.target.gpu->description);
    result.status = Status::bad_timing;
  }

  const std::string device_;
  GpuLink gpu_{link_};
};

}  // namespace

Expected<std::unique_ptr<Runner>> gpu_runner(const std::string& device, const WorkerOptions& options) {
  TW_TRY(std::string worker, find_worker(options.worker_path));
  return std::unique_ptr<Runner>(std::make_unique<GpuRunner>(std::move(worker), device, options));
}

}  // namespace tw::measure
