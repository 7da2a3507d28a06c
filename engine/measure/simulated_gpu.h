// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/measure.h"
#include "engine/schedule/schedule.h"

namespace tw::measure {

/// A GPU of the table that exists as a formula (simulate/kernel_time.h). Candidates are lowered, checked against its limits and timed by counting; nothing is
/// compiled or run. Results count as verified because none is computed that could be wrong. The same candidate and seed of inputs give the same samples: the
/// formula's time, off by a factor that belongs to the kernel (no tuner can learn the formula by heart) and by noise that shrinks with its length.
/// The artifacts hold the estimated time instead of code; only simulated_gpu_runner understands them. Tasks must be for a GPU target.
std::unique_ptr<Builder> simulated_gpu_builder();
std::unique_ptr<Runner> simulated_gpu_runner();

/// The estimated time of a schedule on the target's GPU: the sum over its launches, in seconds. Errors: of lowering, of the GPU's limits.
Expected<double> simulated_seconds(const schedule::Schedule& schedule, const Target& target);

}  // namespace tw::measure
