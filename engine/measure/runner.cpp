// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/check.h"
#include "engine/measure/handshake.h"
#include "engine/measure/judge.h"
#include "engine/measure/measure.h"
#include "engine/measure/measure_job.h"
#include "engine/measure/wake.h"
#include "engine/measure/worker_path.h"
#include "engine/measure/worker_process.h"

namespace tw::measure {

namespace {

using records::MeasureResult;
using records::Status;
using Clock = std::chrono::steady_clock;

constexpr int kInfraAttempts = 3, kCrashAttempts = 2, kNoiseAttempts = 2;
constexpr size_t kNoisySamples = 20;
constexpr double kQueueSeconds = 600;  ///< for its turn, while other programs measure
constexpr double kPatience = 10;       ///< on top of all limits: by then the worker itself must be stuck

double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

/// Wall limit of a run. With an incumbent, a candidate that needs 20 times as long as measuring the incumbent would is not worth waiting for.
double run_limit(const RunOptions& options, double incumbent_s) {
  constexpr double kFactor = 20, kCalls = 10, kSampling = 0.15;
  if (incumbent_s <= 0) return options.timeout_s;
  return std::min(options.timeout_s, kFactor * std::max(kCalls * incumbent_s, kSampling));
}

bool noisy(const MeasureResult& r) {
  return r.ok() && !r.censored && r.samples_s.size() >= kNoisySamples && 2 * static_cast<size_t>(r.flagged) > r.samples_s.size();
}

MeasureResult failure(Status status, std::string message) {
  MeasureResult result;
  result.status = status;
  result.message = std::move(message);
  return result;
}

class LocalRunner final : public Runner {
 public:
  LocalRunner(std::string worker, const WorkerOptions& options) : worker_(std::move(worker)), options_(options) {}

  std::vector<MeasureResult> run(const records::Task& task, std::span<const BuildOutcome> builds, const RunOptions& options, StopToken stop) override {
    std::vector<MeasureResult> results;
    std::shared_ptr<const Reference> reference;
    std::string no_reference;
    if (options.verify && std::any_of(builds.begin(), builds.end(), [](const BuildOutcome& b) { return b.status == Status::ok; })) {
      auto made = references_.get(task.key, *task.dag, options.input_seed, options.magnitudes);
      if (made) reference = *made;
      if (!made) no_reference = fmt::format("There is no reference to verify with: {}", made.error().text());
    }
    double incumbent = options.incumbent_s;
    const StopFd stop_fd(stop);
    for (const BuildOutcome& build : builds) {
      MeasureResult result;
      if (build.status != Status::ok) {
        result = failure(build.status, build.message);
      } else if (stop.stop_requested()) {
        result = failure(Status::cancelled, "Stopped before it was measured");
      } else if (!no_reference.empty()) {
        result = failure(Status::infra, no_reference);
      } else {
        result = measure(task, *build.artifact, reference.get(), options, incumbent, stop_fd);
      }
      result.build_s = build.seconds;
      result.timestamp_s = unix_now_s();
      if (options.samples == 0 && result.ok() && !result.censored) incumbent = incumbent > 0 ? std::min(incumbent, result.seconds()) : result.seconds();
      results.push_back(std::move(result));
    }
    return results;
  }

  Expected<References> references(StopToken stop) override {
    const StopFd stop_fd(stop);
    TW_TRY(const Frame frame, exchange(Json{{"command", "references"}}, {}, kQueueSeconds, stop_fd));
    const Json& h = frame.header;
    if (!h.contains("flop_per_s") || !h["flop_per_s"].is_number() || !h.contains("bytes_per_s") || !h["bytes_per_s"].is_number()) {
      process_.reset();
      return Error(ErrorCode::infrastructure, "The measuring worker answered another question");
    }
    return References{h["flop_per_s"].get<double>(), h["bytes_per_s"].get<double>()};
  }

 private:
  /// Infrastructure failures are tried again in a fresh worker, crashes once more (some are not the candidate's doing), and so are noisy measurements.
  MeasureResult measure(const records::Task& task, const runtime::Artifact& artifact, const Reference* reference, const RunOptions& options, double incumbent,
                        const StopFd& stop_fd) {
    MeasureResult best = failure(Status::infra, "Never tried");
    for (int attempt = 1;; ++attempt) {
      MeasureResult result = measure_once(task, artifact, reference, options, incumbent, stop_fd);
      if (!best.ok() || (result.ok() && result.seconds() < best.seconds())) best = std::move(result);
      const bool again = (best.status == Status::infra && attempt < kInfraAttempts) || (best.status == Status::run_crash && attempt < kCrashAttempts) ||
                         (noisy(best) && attempt < kNoiseAttempts);
      if (!again) return best;
    }
  }

  MeasureResult measure_once(const records::Task& task, const runtime::Artifact& artifact, const Reference* reference, const RunOptions& options,
                             double incumbent, const StopFd& stop_fd) {
    if (artifact.kernels.size() != 1) return failure(Status::infra, fmt::format("Expected one kernel to measure, found {}", artifact.kernels.size()));
    MeasureJob job;
    job.id = ++last_id_;
    job.signature = artifact.kernels[0];
    job.ranges = input_ranges(*task.dag, options.magnitudes);
    job.seed = options.input_seed;
    job.cores = std::max(task.target.cores, 1);
    job.incumbent_s = incumbent;
    job.samples = options.samples;
    job.run_limit_s = run_limit(options, incumbent);
    job.startup_limit_s = kStartupSeconds;
    job.memory_bytes = options_.memory_bytes;
    job.verify = reference != nullptr;
    job.positions.resize(job.outputs().size());
    if (job.inputs().size() != job.ranges.size() || job.outputs().size() != task.dag->outputs.size()) {
      return failure(Status::infra, "The kernel's arguments are not those of the task");
    }
    for (size_t o = 0; reference != nullptr && o < job.positions.size(); ++o) {
      if (!reference->outputs[o].all) job.positions[o] = reference->outputs[o].positions;
    }
    const auto answer = ask(job, artifact.object, stop_fd);
    if (!answer) return failure(answer.error().code == ErrorCode::cancelled ? Status::cancelled : Status::infra, answer.error().text());
    return judge(task, job, answer->reply, reference, answer->wall_s, stop_fd);
  }

  MeasureResult judge(const records::Task& task, const MeasureJob& job, const MeasureReply& reply, const Reference* reference, double wall_s,
                      const StopFd& stop_fd) {
    MeasureResult result = failure(reply.status, reply.message);
    result.load_s = reply.load_s;
    result.run_s = reply.run_s;
    if (reply.status != Status::ok) return result;
    if (const auto complaint = judge_times(reply, wall_s)) return failure(Status::bad_timing, *complaint);
    result.samples_s = reply.samples_s;
    result.sample_flags = reply.flags;
    result.flagged = static_cast<int>(std::count(reply.flags.begin(), reply.flags.end(), true));
    result.inner = reply.inner;
    result.censored = reply.censored;
    if (reference != nullptr) {
      const auto complaint = judge_values(job, reply, *reference, result.max_rel_error);
      if (!std::isfinite(result.max_rel_error)) result.max_rel_error = std::numeric_limits<double>::max();  // JSON has no infinity
      result.verified = !complaint;
      if (complaint) {
        result.status = Status::wrong_output;
        result.message = *complaint;
        return result;
      }
    }
    check_floor(task, job, result, stop_fd);
    return result;
  }

  /// The calibrated peak can be too low if the machine was busy then: it is measured again before a time is called impossible.
  void check_floor(const records::Task& task, const MeasureJob& job, MeasureResult& result, const StopFd& stop_fd) {
    const auto possible = [&] { return result.seconds() >= physical_floor_s(*task.dag, peak_flops_ * job.cores); };
    if (possible()) return;
    if (const auto again = exchange(Json{{"command", "peak"}}, {}, kPatience, stop_fd);
        again && again->header.contains("peak_flops") && again->header["peak_flops"].is_number()) {
      peak_flops_ = std::max(peak_flops_, again->header["peak_flops"].get<double>());
    }
    if (possible()) return;
    result.message = fmt::format("{} is less than the {} that this machine needs for the task's arithmetic", si_text(result.seconds(), "s"),
                                 si_text(physical_floor_s(*task.dag, peak_flops_ * job.cores), "s"));
    result.status = Status::bad_timing;
  }

  struct Answer {
    MeasureReply reply;
    double wall_s;  ///< since the question was sent, waiting for the turn included: never less than what the candidate had, however late we are woken
  };

  /// The worker says when the candidate's turn has come, since only one is measured at a time on a machine, and answers when it is done.
  Expected<Answer> ask(const MeasureJob& job, const std::vector<std::byte>& object, const StopFd& stop_fd) {
    const auto asked = Clock::now();
    TW_TRY(Frame frame, exchange(to_json(job), object, kQueueSeconds, stop_fd));
    const auto start = Clock::now();
    if (frame.header.contains("started")) {
      TW_TRY(frame, wait_for_frame(start + in_seconds(job.startup_limit_s + job.run_limit_s + kPatience), stop_fd));
    }
    auto reply = reply_from_frame(frame, job);
    if (reply && reply->id == job.id) return Answer{std::move(*reply), since(asked)};
    process_.reset();
    return reply ? Error(ErrorCode::infrastructure, "The measuring worker answered another question") : reply.error();
  }

  /// Sends one frame and waits for the answer. The worker is gone afterwards if anything was wrong.
  Expected<Frame> exchange(const Json& header, std::span<const std::byte> payload, double limit_s, const StopFd& stop_fd) {
    TW_CHECK(ensure_worker(stop_fd));
    const Deadline deadline = Clock::now() + in_seconds(limit_s);
    if (auto sent = process_->send(header, payload, deadline); !sent) return dead(sent.error());
    return wait_for_frame(deadline, stop_fd);
  }

  Expected<Frame> wait_for_frame(Deadline deadline, const StopFd& stop_fd) {
    for (;;) {
      auto frame = process_->receive();
      if (!frame) return dead(frame.error());
      if (*frame) return std::move(**frame);
      std::vector<pollfd> fds{{stop_fd.fd(), POLLIN, 0}, {process_->channel(), POLLIN, 0}, {process_->output(), POLLIN, 0}};
      poll_until(fds, deadline);
      if (fds[2].revents != 0) process_->drain_output();
      if (fds[0].revents != 0) {
        process_.reset();
        return Error(ErrorCode::cancelled, "Stopped while it was measured");
      }
      if (fds[1].revents == 0 && Clock::now() >= deadline) return dead(Error(ErrorCode::infrastructure, "The measuring worker does not answer"));
    }
  }

  Error dead(const Error& why) {
    const ProcessEnd end = why.code == ErrorCode::crash ? process_->reap() : process_->kill();
    std::string message = why.code == ErrorCode::crash ? fmt::format("The measuring worker ended with {}", end.text()) : why.text();
    if (!process_->printed().empty()) message += "; it printed: " + printable(trim(process_->printed()));
    process_.reset();
    return Error(ErrorCode::infrastructure, message);
  }

  Expected<void> ensure_worker(const StopFd& stop_fd) {
    if (process_) return {};
    TW_TRY(process_, WorkerProcess::start(worker_, "measure", options_.memory_bytes));
    TW_TRY(const Frame hello, wait_for_frame(Clock::now() + in_seconds(kStartupSeconds), stop_fd));
    if (auto checked = check_hello(hello, "measure"); !checked) {
      process_.reset();
      return checked;
    }
    if (hello.header.contains("peak_flops") && hello.header["peak_flops"].is_number()) {
      peak_flops_ = std::max(peak_flops_, hello.header["peak_flops"].get<double>());
    }
    return {};
  }

  std::string worker_;
  WorkerOptions options_;
  std::unique_ptr<WorkerProcess> process_;
  ReferenceCache references_;
  double peak_flops_ = 0;  ///< of one core; the best seen
  int64_t last_id_ = 0;
};

}  // namespace

Expected<std::unique_ptr<Runner>> local_runner(const WorkerOptions& options) {
  TW_TRY(std::string worker, find_worker(options.worker_path));
  return std::unique_ptr<Runner>(std::make_unique<LocalRunner>(std::move(worker), options));
}

}  // namespace tw::measure
