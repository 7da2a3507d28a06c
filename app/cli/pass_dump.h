// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "engine/base/json.h"
#include "engine/base/output_folder.h"
#include "engine/graph/pass.h"
#include "engine/schedule/schedule.h"

namespace tw::cli {

/// What `tw compile --dump-passes` writes: `graph/NN_pass.graph` after every graph pass, `kernels/SYMBOL/NN_pass.tir` after every pass over a
/// kernel's loops, and `index.json` with the file, the time and whether anything changed for each of them, in order.
class PassDump {
 public:
  explicit PassDump(std::string folder) : folder_(std::move(folder)) {}

  /// Hook of the graph passes.
  void operator()(const graph::Pass& pass, const graph::Graph& before, const graph::Graph& after, double seconds, bool changed);
  /// Runs the passes but `without` over one kernel again and writes them.
  void add_kernel(const std::string& symbol, const schedule::Schedule& schedule, const Target& target, const std::vector<std::string>& without);
  /// Writes the index. Errors: the first one met so far.
  Expected<void> finish();

 private:
  void write(const std::string& path, const std::string& text);

  OutputFolder folder_;
  Json graph_ = Json::array(), kernels_ = Json::array();
  std::optional<Error> error_;
};

}  // namespace tw::cli
