// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/judging_runner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/clock.h"
#include "engine/base/text.h"
#include "engine/measure/judge.h"
#include "engine/measure/worker.h"

namespace tw::measure {

namespace {

using records::MeasureResult;
using records::Status;
using records::Weights;

constexpr int kCrashAttempts = 2, kNoiseAttempts = 2;
constexpr size_t kNoisySamples = 20;

/// Wall limit of a run. With an incumbent, a candidate that needs 10 times as long as measuring the incumbent would is not worth waiting for.
double run_limit(const RunOptions& options, double incumbent_s) {
  constexpr double kFactor = 10, kCalls = 10, kSampling = 0.15;
  if (incumbent_s <= 0) return options.timeout_s;
  return std::min(options.timeout_s, kFactor * std::max(kCalls * incumbent_s, kSampling));
}

bool noisy(const MeasureResult& r) {
  return r.ok() && !r.censored && r.samples_s.size() >= kNoisySamples && 2 * static_cast<size_t>(r.flagged) > r.samples_s.size();
}

}  // namespace

MeasureResult JudgingRunner::failure(Status status, std::string message) {
  MeasureResult result;
  result.status = status;
  result.message = std::move(message);
  return result;
}

bool JudgingRunner::deserves_another(const MeasureResult& r, int attempt) {
  return (r.status == Status::infra && attempt < kInfraAttempts) || (r.status == Status::run_crash && attempt < kCrashAttempts) ||
         (noisy(r) && attempt < kNoiseAttempts);
}

Expected<std::shared_ptr<const Reference>> JudgingRunner::reference_for(const records::Task& task, std::span<const BuildOutcome> builds,
                                                                        const RunOptions& options) {
  if (!options.verify || std::none_of(builds.begin(), builds.end(), [](const BuildOutcome& b) { return b.status == Status::ok; }))
    return std::shared_ptr<const Reference>();
  auto made = references_.get(task.key, *task.dag, options.input_seed, options.magnitudes, task.target.allows_tf32());
  if (made) return made;
  return Error(ErrorCode::infrastructure, fmt::format("There is no reference to verify with: {}", made.error().text()));
}

Expected<MeasureJob> JudgingRunner::job_for(const records::Task& task, const runtime::Artifact& artifact, const Reference* reference, const RunOptions& options,
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
  job.memory_bytes = memory_bytes_;
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

MeasureResult JudgingRunner::judge(const MeasureJob& job, const MeasureReply& reply, const Reference* reference, double wall_s) {
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
    }
  }
  return result;
}

}  // namespace tw::measure
