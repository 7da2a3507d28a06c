// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engine/base/file.h"
#include "engine/records/record_sink.h"

namespace tw::records {

/// A point of the network's curve as a line without its end: three labels with their values, all separated by tabs: `ElapsedTime(s)`, whole seconds;
/// `EstimatedLatency(ms)`, three decimals or N/A while a task has no time; `Trials`, over all tasks.
/// Source: total_latency.tsv of Ansor's LogEstimatedLatency, which Pruner's scripts read.
std::string total_latency_line(const Round& round);

/// Files of such lines.
extern const FileKind kLatencyLog;

/// Writes a line for every round to a file that begins with those for `earlier`. Errors: invalid_argument for another file, which stays as it is; those of write_file.
Expected<std::unique_ptr<RecordSink>> latency_log_sink(const std::string& path, const std::vector<Round>& earlier);

}  // namespace tw::records
