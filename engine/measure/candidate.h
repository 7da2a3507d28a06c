// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/measure_job.h"
#include "engine/process/watched_fork.h"

namespace tw::measure {

/// Everything a candidate's process starts from.
struct CandidateSetup {
  const MeasureJob& job;
  const std::vector<std::byte>& object;
  std::span<const std::byte* const> row_major_inputs;  ///< read-only, shared with the other candidates
  process::SharedPhase& shared;
  double inputs_s = 0;  ///< that making them took for this candidate
};

/// The life of a candidate's process after its limits are set: fills the arguments, loads the object, verifies and times the kernel; times it first where only
/// fast ones are verified (MeasureJob::verify_below_s).
/// Outputs are filled with two different patterns before the first two calls, and both must give the same bits: an element never written, or computed
/// from what stood there before, shows. After the timing the outputs must still be the same, the inputs unchanged and the guard zones whole.
/// The payload that goes with the reply is put into `payload`.
MeasureReply run_candidate(const CandidateSetup& setup, std::vector<std::byte>& payload);

}  // namespace tw::measure
