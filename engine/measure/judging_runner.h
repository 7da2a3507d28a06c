// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/check.h"
#include "engine/measure/measure.h"
#include "engine/measure/measure_job.h"

namespace tw::measure {

/// What runners share that have candidates measured by a worker, on this machine or another: references, which never leave the program, what the worker is asked,
/// and judging what it answers.
class JudgingRunner : public Runner {
 protected:
  explicit JudgingRunner(int64_t memory_bytes) : memory_bytes_(memory_bytes) {}

  /// What outputs must be; null if nothing is to be verified. Errors: infrastructure, saying that there is none.
  Expected<std::shared_ptr<const Reference>> reference_for(const records::Task& task, std::span<const BuildOutcome> builds, const RunOptions& options);
  /// What a worker is asked to do with a kernel. `reference` may be null. Errors: infrastructure if it is no kernel of the task.
  Expected<MeasureJob> job_for(const records::Task& task, const runtime::Artifact& artifact, const Reference* reference, const RunOptions& options,
                               double incumbent);
  /// What the answer is worth. `wall_s`: never less than what the candidate had.
  static records::MeasureResult judge(const MeasureJob& job, const MeasureReply& reply, const Reference* reference, double wall_s);
  static records::MeasureResult failure(records::Status status, std::string message);
  /// Whether a candidate that ended so is measured once more: infrastructure failures are tried again in a fresh worker, crashes once more (some are not the
  /// candidate's doing), and so are noisy measurements. `attempt`: how many there were.
  static bool deserves_another(const records::MeasureResult& result, int attempt);

 private:
  int64_t memory_bytes_;
  ReferenceCache references_;
  int64_t last_id_ = 0;
};

}  // namespace tw::measure
