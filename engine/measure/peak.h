// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/target/target.h"

namespace tw::measure {

/// Float32 operations a second of one core at its best, measured: independent fused multiply-adds on the widest vectors of this processor, the best of
/// several runs over about `seconds`. 0 where no such loop is written for the processor; then only zero and negative times are refused.
double measure_peak_flops(double seconds);
/// Of all cores of the target, measured here for a quarter of a second; of a GPU by its data sheet. 0 where it cannot be measured.
/// Sessions keep it as `peak_flop_per_s` of their host, so that the share of it that a trial reaches stays what it was.
double peak_of(const Target& target);
inline constexpr const char* kPeakOfHost = "peak_flop_per_s";

}  // namespace tw::measure
