// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "engine/records/autotvm_json.h"

namespace tw::records {

/// The fastest verified ok record of a task, by MeasureResult::decided_s(), the earlier of equals; where none is verified, the fastest ok one; claims only
/// where there is no other; null if there is none. Of each of the three, one whose time is comparable in a network with constants there comes first.
const Record* best_of(std::span<const Record> records, const std::string& task_key, Weights in_network = Weights::unknown);

/// What a line is a trial of: our task's key, else target, task name and arguments.
std::string workload_key(const AutotvmRecord& record);

/// What AutoTVM compares records by: the mean of a line's times [s]; infinity of failures.
double mean_cost(const AutotvmRecord& record);

/// AutoTVM's pick_best: of each workload the ok record with the least mean cost, in the order in which the workloads first appear.
std::vector<AutotvmRecord> pick_best(std::span<const AutotvmRecord> records);

/// The records of each workload in the order of the log, in the order in which the workloads first appear; of each point the first record alone.
std::vector<std::vector<AutotvmRecord>> split_workloads(std::span<const AutotvmRecord> records);

}  // namespace tw::records
