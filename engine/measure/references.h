// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tw::measure {

/// How fast the machine is right now at two things that do not change: multiply-adds in registers, and reading an array beyond the caches. One thread, the best
/// of short runs until three agree; 0 where it is not known. Two kernels because a disturbance of one says little of the other.
struct References {
  double flop_per_s = 0, bytes_per_s = 0;
};

/// Takes 10 to 60 ms.
References measure_references();

}  // namespace tw::measure
