// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/process_runner.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/measure/judge.h"

namespace tw::measure {

namespace {

using records::MeasureResult;
using records::Status;
using records::Weights;
using Clock = std::chrono::steady_clock;

constexpr int kCrashAttempts = 2, kNoiseAttempts = 2;
constexpr size_t kNoisySamples = 20;

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

}  // namespace

std::vector<MeasureResult> ProcessRunner::run(const records::Task& task, std::span<const BuildOutcome> builds, const RunOptions& options, StopToken stop) {
  std::vector<MeasureResult> results;
  std::shared_ptr<const Reference> reference;
  std::string no_reference;
  if (options.verify && std::any_of(builds.begin(), builds.end(), [](const BuildOutcome& b) { return b.status == Status::ok; })) {
    auto made = references_.get(task.key, *task.dag, options.input_seed, options.magnitudes, task.target.allows_tf32());
    if (made) reference = *made;
    if (!made) no_reference = fmt::format("There is no reference to verify with: {}", made.error().text());
  }
  double incumbent = options.incumbent_s;
  const process::StopFd stop_fd(stop);
  for (const BuildOutcome& build : builds) {
    MeasureResult result;
    moved(results.size(), Stage::running);
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
    moved(results.size() - 1, Stage::measured);
  }
  return results;
}

/// Infrastructure failures are tried again in a fresh worker, crashes once more (some are not the candidate's doing), and so are noisy measurements.
MeasureResult ProcessRunner::measure(const records::Task& task, const runtime::Artifact& artifact, const Reference* reference, const RunOptions& options,
                                     double incumbent, const process::StopFd& stop_fd) {
  MeasureResult best = failure(Status::infra, "Never tried");
  for (int attempt = 1;; ++attempt) {
    MeasureResult result = measure_once(task, artifact, reference, options, incumbent, stop_fd);
    if (!best.ok() || (result.ok() && result.seconds() < best.seconds())) best = std::move(result);
    const bool again = (best.status == Status::infra && attempt < kInfraAttempts) || (best.status == Status::run_crash && attempt < kCrashAttempts) ||
                       (noisy(best) && attempt < kNoiseAttempts);
    if (!again) return best;
  }
}

MeasureResult ProcessRunner::measure_once(const records::Task& task, const runtime::Artifact& artifact, const Reference* reference, const RunOptions& options,
                                          double incumbent, const process::StopFd& stop_fd) {
  const auto job = job_for(task, artifact, reference, options, incumbent);
  if (!job) return failure(Status::infra, job.error().message);
  const auto answer = ask(*job, artifact, stop_fd);
  if (!answer) return failure(answer.error().code == ErrorCode::cancelled ? Status::cancelled : Status::infra, answer.error().text());
  return judge(task, *job, answer->reply, reference, answer->wall_s, stop_fd);
}

Expected<MeasureJob> ProcessRunner::job_for(const records::Task& task, const runtime::Artifact& artifact, const Reference* reference, const RunOptions& options,
                                            double incumbent) {
  if (artifact.kernels.size() != 1) return Error(ErrorCode::infrastructure, fmt::format("Expected one kernel to measure, found {}", artifact.kernels.size()));
  MeasureJob job;
  job.id = ++last_id_;
  job.signature = artifact.kernels[0];
  job.ranges = input_ranges(*task.dag, options.magnitudes);
  job.seed = options.input_seed;
  job.cores = std::max(task.target.cores, 1);
  job.incumbent_s = incumbent;
  job.samples = options.samples;
  job.warm_weights = options.weights == Weights::warm;
  job.min_sample_s = options.min_sample_s;
  job.run_limit_s = run_limit(options, incumbent);
  job.startup_limit_s = kStartupSeconds;
  job.memory_bytes = options_.memory_bytes;
  job.verify = reference != nullptr;
  job.verify_below_s = job.verify && options.verify_within > 0 ? options.verify_within * incumbent : 0;
  job.positions.resize(job.outputs().size());
  if (job.inputs().size() != job.ranges.size() || job.outputs().size() != task.dag->outputs.size())
    return Error(ErrorCode::infrastructure, "The kernel's arguments are not those of the task");
  for (size_t o = 0; reference != nullptr && o < job.positions.size(); ++o) {
    if (!reference->outputs[o].all) job.positions[o] = reference->outputs[o].positions;
  }
  return job;
}

MeasureResult ProcessRunner::judge(const records::Task& task, const MeasureJob& job, const MeasureReply& reply, const Reference* reference, double wall_s,
                                   const process::StopFd& stop_fd) {
  MeasureResult result = failure(reply.status, reply.message);
  result.load_s = reply.load_s;
  result.fill_s = reply.fill_s;
  result.run_s = reply.run_s;
  result.verify_s = reply.verify_s;
  result.weights = job.warm_weights ? Weights::warm : Weights::cold;
  if (reply.status != Status::ok) return result;
  if (const auto complaint = judge_times(reply, wall_s)) return failure(Status::bad_timing, *complaint);
  result.samples_s = reply.samples_s;
  result.sample_flags = reply.flags;
  result.flagged = static_cast<int>(std::count(reply.flags.begin(), reply.flags.end(), true));
  result.inner = reply.inner;
  result.censored = reply.censored;
  if (reply.verified) {
    const double start = clock_now_s(CLOCK_MONOTONIC);
    const auto complaint = judge_values(job, reply, *reference, result.max_rel_error);
    const double took = clock_now_s(CLOCK_MONOTONIC) - start;
    result.run_s += took, result.verify_s += took;
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

Expected<MeasureReply> ProcessRunner::reply_in(const process::Frame& frame, const MeasureJob& job) {
  auto reply = reply_from_frame(frame, job);
  if (reply && reply->id == job.id) return reply;
  link_.drop();
  return reply ? Error(ErrorCode::infrastructure, "The measuring worker answered another question") : reply.error();
}

}  // namespace tw::measure
