// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/measure/measure_job.h"
#include "engine/measure/worker.h"

namespace tw::measure {

/// Asks a worker in the role `gpu`: it watches the clocks of each candidate and replaces the worker after an error that corrupts the context, after a
/// kernel that took too long, and after 200 candidates, since only the end of a process evicts a kernel.
class GpuLink {
 public:
  /// `link` outlives this.
  explicit GpuLink(WorkerLink& link) : link_(link) {}

  /// Has a candidate measured. `question`: a MeasureJob in JSON with the `gpu` function and the `device`; `job`: the same, for its limits; `image`: machine
  /// code. The answer is the worker's, or says what the candidate did to it. Errors: cancelled; infrastructure.
  Expected<process::Frame> measure(const Json& question, const MeasureJob& job, std::span<const std::byte> image, const process::StopFd& stop_fd);
  /// Target::str() of a GPU, by open_gpu's names. Errors: why there is none.
  Expected<std::string> target_of_device(const std::string& device, const process::StopFd& stop_fd);

 private:
  WorkerLink& link_;
  int asked_ = 0;
};

}  // namespace tw::measure
