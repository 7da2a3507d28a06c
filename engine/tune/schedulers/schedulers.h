// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tune/scheduler.h"

namespace tw::tune {

SchedulerDef proportional_scheduler();
SchedulerDef round_robin_scheduler();
SchedulerDef gradient_scheduler();

}  // namespace tw::tune
