// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/network.h"
#include "db/database.h"
#include "engine/api/gpu_check.h"
#include "engine/records/json_lines.h"

namespace tw::cli {

/// Of all commands of `tw records`.
struct RecordsArguments {
  std::string db, file, output, format = "autotvm";
  std::vector<std::string> filters, logs;
  int64_t session = 0;
  std::vector<int> archs;
  int blocks = api::GpuCheckOptions().blocks;
  NetworkOptions network;
  bool json = false;
};

/// Whether a task is one of those that `filters` name by a part of its name or the beginning of its key; all are, if there are none.
bool matches(const db::TaskRow& row, const std::vector<std::string>& filters);

std::string problem_text(const records::LineProblem& problem);

/// `tw records import`. Returns the exit code, as the others do.
int import_records(const RecordsArguments& o);
/// `tw records check`: the best trial of every task for a GPU, looked at without one.
int check_records(const RecordsArguments& o);

}  // namespace tw::cli
