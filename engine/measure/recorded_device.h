// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/measure/device.h"
#include "engine/records/recorded_trials.h"

namespace tw::measure {

/// A device that replays: nothing is built or run. A candidate ends as its recorded trial did, with the samples of that trial, and searches are told to propose
/// recorded points only (Builder::points). A candidate without a number, such as a sketch's, ends as the trial that has its fingerprint or, where there is none,
/// as that of a point which comes to the same schedule. What was never recorded, such as a default schedule that is another one by now, ends as `not_recorded`, which is no
/// fault of the candidate's. Where exactly so many samples are asked for (finals), they are drawn from the recorded ones by the input seed. `name` begins with
/// kRecordedDevice. Source: the simulation mode of Kernel Tuner (van Werkhoven, FGCS 2019) and what Willemsen et al. (FGCS 2024) compare tuners by.
Device recorded_device(std::string name, std::shared_ptr<const records::RecordedTrials> trials);

}  // namespace tw::measure
