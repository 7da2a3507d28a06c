// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tw::measure {

/// Float32 operations a second of one core at its best, measured: independent fused multiply-adds on the widest vectors of this processor, the best of
/// several runs over about `seconds`. 0 where no such loop is written for the processor; then only zero and negative times are refused.
double measure_peak_flops(double seconds);

}  // namespace tw::measure
