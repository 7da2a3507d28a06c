// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/measure/timing.h"
#include "engine/runtime/gpu_device.h"

namespace tw::measure {

/// Times what `launch` puts into a GPU's queue, by events in that queue. Warms up for 10 ms or 10 calls. Of longer kernels a sample is one call after the
/// level-2 cache was overwritten, outside of the timed window, unless constants stay warm; of those below 20 us it is a recorded series of calls of at least 200 us (`inner`), where only
/// the first finds a cold cache: an event is no more exact than half a microsecond. Samples until the third best is within 1 % of the best (at least 5), or
/// max_samples, or the budget is used up; clearly slower than the incumbent (1.3 times after 3 samples, 4 times after one) stops early. Samples taken while the device was disturbed are flagged and
/// decide nothing.
/// Sources: the protocols of nvbench and of Triton's do_bench (a cache flush between runs, events), with the stop rule of timing.h.
/// Errors: those of the device; cancelled.
Expected<Timing> time_on_gpu(runtime::GpuDevice& device, const std::function<Expected<void>()>& launch, const TimingOptions& options);

}  // namespace tw::measure
