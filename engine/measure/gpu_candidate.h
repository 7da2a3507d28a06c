// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/measure/measure_job.h"
#include "engine/runtime/gpu_device.h"

namespace tw::measure {

struct GpuCandidate {
  const MeasureJob& job;
  const runtime::GpuFunction& function;
  std::span<const std::byte* const> row_major_inputs;
  std::function<Expected<void>()> running;  ///< called before the first launch: from there on the clock of the run ticks
  double inputs_s = 0;                      ///< that making the inputs took for this candidate
};

/// Verifies and times one candidate on a GPU, as run_candidate does on a processor: two runs over differently filled outputs must agree, inputs and zones
/// around the arguments must be as they were, and timing must not change the outputs; timed first where only fast ones are verified. Failures of the device that blame the candidate are its reply; `lost` is
/// set if the process is of no use afterwards. Errors: those of `running`.
Expected<MeasureReply> run_gpu_candidate(runtime::GpuDevice& device, const GpuCandidate& candidate, std::vector<std::byte>& payload, bool& lost);

}  // namespace tw::measure
