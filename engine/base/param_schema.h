// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/base/json.h"

namespace tw {

/// One named parameter of a tuner, pass or primitive. The command line, the JSON form and the workbench's forms are built from it.
struct Param {
  enum class Kind { integer, real, boolean, choice, text, duration };
  std::string name;  ///< snake_case, stable
  Kind kind = Kind::integer;
  Json default_value;
  std::string help;  ///< one line, with the unit
  double min = 0, max = 0;            ///< inclusive range for numbers; ignored if max < min or both are 0
  std::vector<std::string> choices;   ///< for Kind::choice
};

using ParamSchema = std::vector<Param>;

/// `kind` is integer or real.
Param number_param(const char* name, Param::Kind kind, Json value, const char* help, double min, double max);
Param choice_param(const char* name, const char* value, const char* help, std::vector<std::string> choices);
Param flag_param(const char* name, bool value, const char* help);
Param text_param(const char* name, const char* value, const char* help);
/// A time in seconds, which people may give as 90s or 30m.
Param duration_param(const char* name, double value, const char* help);

/// Checks `given` (an object) against the schema and fills in defaults.
/// Errors: invalid_argument naming the parameter for an unknown name, a wrong kind or a value out of range.
Expected<Json> resolve_params(const ParamSchema& schema, const Json& given);

}  // namespace tw
