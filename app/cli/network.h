// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/cli/param_options.h"
#include "engine/api/import_apart.h"
#include "engine/api/preparation.h"
#include "engine/base/json_fwd.h"
#include "engine/measure/device.h"

namespace tw::cli {

class Subcommand;

/// The options of every command that reads a model file for a target.
struct NetworkOptions {
  std::string model;
  std::string target = "llvm";
  std::vector<std::string> dims, shapes;
  ParamOptions preparation = ParamOptions(api::preparation_schema());
  double import_gib = 0;  ///< of memory for reading it; 0: api::ImportLimits' rule
  double import_seconds = api::ImportLimits().seconds;
};
void add_network_options(Subcommand sub, NetworkOptions& options);

/// A network and the target it was prepared for.
struct LoadedNetwork {
  api::Network network;
  Target target;
  std::string path;      ///< that a workspace keeps; of a recorded space, whose text the workspace keeps as well, a name that no file has
  std::string recorded;  ///< the device that answers for it where no other is asked for; empty unless the model is a recorded space
  /// What measures, of what a person asked for.
  std::string device(const std::string& given) const { return given == measure::kLocalDevice && !recorded.empty() ? recorded : given; }
};
/// Reads and optimises the model, in a process of its own. On failure prints the error and sets `exit`.
std::optional<LoadedNetwork> load_network(const NetworkOptions& options, int& exit, const graph::PassHooks& hooks = {});

}  // namespace tw::cli
