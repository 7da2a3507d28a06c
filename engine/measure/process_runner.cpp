// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/process_runner.h"

#include <algorithm>

#include "engine/base/clock.h"
#include "engine/base/json.h"

namespace tw::measure {

using records::MeasureResult;
using records::Status;

std::vector<MeasureResult> ProcessRunner::run(const records::Task& task, std::span<const BuildOutcome> builds, const RunOptions& options, StopToken stop) {
  std::vector<MeasureResult> results;
  const auto reference = reference_for(task, builds, options);
  double incumbent = options.incumbent_s;
  const process::StopFd stop_fd(stop);
  for (const BuildOutcome& build : builds) {
    MeasureResult result;
    moved(results.size(), Stage::running);
    if (build.status != Status::ok) {
      result = failure(build.status, build.message);
    } else if (stop.stop_requested()) {
      result = failure(Status::cancelled, "Stopped before it was measured");
    } else if (!reference) {
      result = failure(Status::infra, reference.error().message);
    } else {
      result = measure(task, *build.artifact, reference->get(), options, incumbent, stop_fd);
    }
    result.build_s = build.seconds;
    result.timestamp_s = unix_now_s();
    if (options.samples == 0 && result.ok() && !result.censored) incumbent = incumbent > 0 ? std::min(incumbent, result.seconds()) : result.seconds();
    results.push_back(std::move(result));
    moved(results.size() - 1, Stage::measured);
  }
  return results;
}

MeasureResult ProcessRunner::measure(const records::Task& task, const runtime::Artifact& artifact, const Reference* reference, const RunOptions& options,
                                     double incumbent, const process::StopFd& stop_fd) {
  MeasureResult best = failure(Status::infra, "Never tried");
  for (int attempt = 1;; ++attempt) {
    MeasureResult result = measure_once(task, artifact, reference, options, incumbent, stop_fd);
    if (!best.ok() || (result.ok() && result.seconds() < best.seconds())) best = std::move(result);
    if (!deserves_another(best, attempt)) return best;
  }
}

MeasureResult ProcessRunner::measure_once(const records::Task& task, const runtime::Artifact& artifact, const Reference* reference, const RunOptions& options,
                                          double incumbent, const process::StopFd& stop_fd) {
  const auto job = job_for(task, artifact, reference, options, incumbent);
  if (!job) return failure(Status::infra, job.error().message);
  const auto answer = ask(*job, artifact, stop_fd);
  if (!answer) return failure(answer.error().code == ErrorCode::cancelled ? Status::cancelled : Status::infra, answer.error().text());
  MeasureResult result = judge(*job, answer->reply, reference, answer->wall_s);
  if (result.ok()) check_floor(task, *job, result, stop_fd);
  return result;
}

Expected<MeasureReply> ProcessRunner::reply_in(const process::Frame& frame, const MeasureJob& job) {
  auto reply = reply_from_frame(frame, job);
  if (reply && reply->id == job.id) return reply;
  link_.drop();
  return reply ? Error(ErrorCode::infrastructure, "The measuring worker answered another question") : reply.error();
}

}  // namespace tw::measure
