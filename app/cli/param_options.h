// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "app/cli/command.h"
#include "engine/base/json_fwd.h"
#include "engine/base/param_schema.h"

namespace tw::cli {

/// A schema on the command line: `trials_per_task` is --trials-per-task, and a time `time_s` is --time 90s. Outlives the parsing.
class ParamOptions {
 public:
  explicit ParamOptions(const ParamSchema& schema) : schema_(schema) {}
  /// Declares one option for each parameter.
  void declare(Subcommand sub);
  /// An object with what was given, for resolve_params; empty where nothing was declared. Errors: invalid_argument for texts that are no values of their kind.
  Expected<Json> given() const;

 private:
  const ParamSchema& schema_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, bool> flags_;
};

/// `name=value` pairs as an object. `option`: where they were given. Errors: invalid_argument.
Expected<Json> named_values(const char* option, const std::vector<std::string>& pairs);

}  // namespace tw::cli
