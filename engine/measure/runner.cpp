// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/judge.h"
#include "engine/measure/process_runner.h"
#include "engine/measure/worker.h"

namespace tw::measure {

namespace {

/// This machine's processors.
class LocalRunner final : public ProcessRunner {
 public:
  LocalRunner(std::string worker, const WorkerOptions& options) : ProcessRunner(std::move(worker), "measure", options) {
    link_.greeted = [this](const process::Frame& hello) {
      if (hello.header.contains("peak_flops") && hello.header["peak_flops"].is_number())
        peak_flops_ = std::max(peak_flops_, hello.header["peak_flops"].get<double>());
    };
  }

  Expected<References> references(StopToken stop) override {
    const process::StopFd stop_fd(stop);
    for (int attempt = 1;; ++attempt) {
      auto measured = link_.references(stop_fd);
      if (measured || measured.error().code == ErrorCode::cancelled || attempt == kInfraAttempts) return measured;
    }
  }

  /// On one thread: the others of a pool would count what they do while they wait.
  Expected<CounterReading> count(const records::Task& task, const BuildOutcome& build, StopToken stop) override {
    if (!build.artifact) return Error(ErrorCode::infrastructure, build.message);
    TW_TRY(MeasureJob job, job_for(task, *build.artifact, nullptr, {}, 0));
    job.cores = 1;
    job.count_events = true;
    const process::StopFd stop_fd(stop);
    TW_TRY(Answer answer, ask(job, *build.artifact, stop_fd));
    if (answer.reply.status != records::Status::ok) return Error(ErrorCode::infrastructure, answer.reply.message);
    return std::move(answer.reply.events);
  }

 private:
  /// The calibrated peak can be too low if the machine was busy then: it is measured again before a time is called impossible.
  void check_floor(const records::Task& task, const MeasureJob& job, records::MeasureResult& result, const process::StopFd& stop_fd) override {
    const auto possible = [&] { return result.seconds() >= physical_floor_s(*task.dag, peak_flops_ * job.cores); };
    if (possible()) return;
    if (const auto again = link_.exchange(Json{{"command", "peak"}}, {}, kPatience, stop_fd);
        again && again->header.contains("peak_flops") && again->header["peak_flops"].is_number()) {
      peak_flops_ = std::max(peak_flops_, again->header["peak_flops"].get<double>());
    }
    if (possible()) return;
    result.message = fmt::format("{} is less than the {} that this machine needs for the task's arithmetic", si_text(result.seconds(), "s"),
                                 si_text(physical_floor_s(*task.dag, peak_flops_ * job.cores), "s"));
    result.status = records::Status::bad_timing;
  }

  Expected<Answer> ask(const MeasureJob& job, const runtime::Artifact& artifact, const process::StopFd& stop_fd) override {
    using Clock = std::chrono::steady_clock;
    const auto asked = Clock::now();
    TW_TRY(const process::Frame frame, link_.measure(to_json(job), artifact.object, job.startup_limit_s + job.run_limit_s, stop_fd));
    TW_TRY(MeasureReply reply, reply_in(frame, job));
    return Answer{std::move(reply), std::chrono::duration<double>(Clock::now() - asked).count()};
  }

  double peak_flops_ = 0;  ///< of one core; the best seen
};

}  // namespace

Expected<std::unique_ptr<Runner>> local_runner(const WorkerOptions& options) {
  TW_TRY(std::string worker, find_worker(options.worker_path));
  return std::unique_ptr<Runner>(std::make_unique<LocalRunner>(std::move(worker), options));
}

}  // namespace tw::measure
