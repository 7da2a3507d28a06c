// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/bench/bench.h"
#include "app/cli/bench/kernel_case.h"
#include "engine/schedule/schedule.h"

namespace tw::cli::bench {

/// All cases of a suite as one network, so that a database has one model for them and tuning is one session.
struct Cases {
  std::vector<KernelCase> list;
  LoadedNetwork network;
  std::vector<const graph::Group*> groups;  ///< per case
};
/// Those that the options ask for. Errors: invalid_argument if no name fits; what building the network says.
Expected<void> load_cases(const Bench& bench, const Target& target, Cases& cases);

/// The best record's schedule, or the default one.
struct ChosenSchedule {
  schedule::Schedule schedule;
  int64_t trials = 0;
  bool tuned = false;
};
Expected<ChosenSchedule> choose_schedule(const Bench& bench, const records::Task& task);

}  // namespace tw::cli::bench
