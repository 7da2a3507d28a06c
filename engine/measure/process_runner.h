// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/judging_runner.h"
#include "engine/measure/worker.h"

namespace tw::measure {

/// What runners that measure in a worker process of this machine share: attempts, starting the worker and talking to it.
class ProcessRunner : public JudgingRunner {
 public:
  std::vector<records::MeasureResult> run(const records::Task& task, std::span<const BuildOutcome> builds, const RunOptions& options, StopToken stop) override;

 protected:
  ProcessRunner(std::string worker, std::string role, const WorkerOptions& options)
      : JudgingRunner(options.memory_bytes), options_(options), link_(std::move(worker), std::move(role), options.memory_bytes) {
    link_.notice = [this](const std::string& text) { say(text); };
  }

  struct Answer {
    MeasureReply reply;
    double wall_s;  ///< since the question was sent, waiting for the turn included: never less than what the candidate had, however late we are woken
  };
  /// Has the candidate measured.
  virtual Expected<Answer> ask(const MeasureJob& job, const runtime::Artifact& artifact, const process::StopFd& stop_fd) = 0;
  /// Turns a time that is too good to be true into a failure.
  virtual void check_floor(const records::Task& task, const MeasureJob& job, records::MeasureResult& result, const process::StopFd& stop_fd) = 0;
  /// The reply in a frame, if it is to this job. Errors: parse_error, infrastructure; the worker is gone then.
  Expected<MeasureReply> reply_in(const process::Frame& frame, const MeasureJob& job);

  const WorkerOptions options_;
  WorkerLink link_;

 private:
  records::MeasureResult measure(const records::Task& task, const runtime::Artifact& artifact, const Reference* reference, const RunOptions& options,
                                 double incumbent, const process::StopFd& stop_fd);
  records::MeasureResult measure_once(const records::Task& task, const runtime::Artifact& artifact, const Reference* reference, const RunOptions& options,
                                      double incumbent, const process::StopFd& stop_fd);
};

}  // namespace tw::measure
