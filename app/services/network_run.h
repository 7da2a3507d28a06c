// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "engine/base/expected.h"
#include "engine/base/json_fwd.h"
#include "engine/base/stop_token.h"
#include "engine/runtime/executable.h"

namespace tw::app {

/// A built network as it ran. Times in seconds.
struct NetworkRun {
  int runs = 0;
  double least_s = 0, median_s = 0, most_s = 0;
  bool simulated = false;          ///< times of a formula, results of the interpreter
  bool passed = false;             ///< the results are those of the reference
  double error = 0, allowed = 0;   ///< the largest of any output, and what its operators allow; relative to the largest magnitude
  std::vector<double> calls_s;     ///< per call, the median of the runs

  bool operator==(const NetworkRun&) const = default;
};

/// Runs it on random inputs, and once operator by operator to compare with, in `tw run`: its code may crash or hang, and its numbers are those of the command line.
/// `device` by measure::open_device's names. Errors: not_found without the program; cancelled; infrastructure with what the program said.
Expected<NetworkRun> runNetwork(const runtime::Executable& executable, const std::string& device, int repeat, StopToken stop);

/// Of the document that `tw run --check --profile --json` prints. Errors: parse_error.
Expected<NetworkRun> networkRunOf(const Json& document);

}  // namespace tw::app
