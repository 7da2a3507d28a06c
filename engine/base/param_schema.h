// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/base/json.h"

namespace tw {

/// One named parameter of a tuner, pass or primitive. The command line, the JSON form and the workbench's forms are built from it.
struct Param {
  enum class Kind { integer, real, boolean, choice, text };
  std::string name;  ///< snake_case, stable
  Kind kind = Kind::integer;
  Json default_value;
  std::string help;  ///< one line, with the unit
  double min = 0, max = 0;            ///< inclusive range for numbers; ignored if max < min or both are 0
  std::vector<std::string> choices;   ///< for Kind::choice
};

using ParamSchema = std::vector<Param>;

/// Checks `given` (an object) against the schema and fills in defaults.
/// Errors: invalid_argument naming the parameter for an unknown name, a wrong kind or a value out of range.
Expected<Json> resolve_params(const ParamSchema& schema, const Json& given);

}  // namespace tw
