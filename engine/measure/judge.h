// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/check.h"
#include "engine/measure/measure_job.h"
#include "engine/records/record.h"

namespace tw::measure {

/// Compares what came back with the reference. Nothing if all is well, else one sentence; `max_rel_error` is filled in both cases.
std::optional<std::string> judge_values(const MeasureJob& job, const MeasureReply& reply, const Reference& reference, double& max_rel_error);

/// The least time in which the task's operations can be done on a machine with this peak (float32 operations a second of all its cores).
/// Types narrower than 32 bits may be `narrow` times faster. Half the operations count where the computation has conditions, since code may skip
/// what they exclude. Of windows only what meets the image counts. Convolutions that Winograd's algorithm may compute need fewer multiplications, by up to 5 times. 0 if the peak is not known.
double physical_floor_s(const te::Dag& dag, double peak_flops, double narrow = 4);

/// What is wrong with the times, if anything: none, not positive, or more of them than the wall clock saw.
std::optional<std::string> judge_times(const MeasureReply& reply, double wall_s);

}  // namespace tw::measure
