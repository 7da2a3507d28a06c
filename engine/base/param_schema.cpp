// SPDX-License-Identifier: Apache-2.0
#include "engine/base/param_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/base/json.h"


namespace tw {

namespace {
bool kind_matches(const Param& p, const Json& v) {
  switch (p.kind) {
    case Param::Kind::integer: return v.is_number_integer();
    case Param::Kind::real: return v.is_number();
    case Param::Kind::duration: return v.is_number() && v.get<double>() >= 0;
    case Param::Kind::boolean: return v.is_boolean();
    case Param::Kind::choice:
    case Param::Kind::text: return v.is_string();
  }
  return false;
}
const char* kind_name(Param::Kind k) {
  switch (k) {
    case Param::Kind::integer: return "an integer";
    case Param::Kind::real: return "a number";
    case Param::Kind::duration: return "seconds of 0 or more";
    case Param::Kind::boolean: return "true or false";
    case Param::Kind::choice: return "one of its choices";
    case Param::Kind::text: return "a text";
  }
  return "";
}
}  // namespace

Param number_param(const char* name, Param::Kind kind, Json value, const char* help, double min, double max) {
  return {name, kind, std::move(value), help, min, max, {}};
}

Param choice_param(const char* name, const char* value, const char* help, std::vector<std::string> choices) {
  return {name, Param::Kind::choice, value, help, 0, 0, std::move(choices)};
}

Param flag_param(const char* name, bool value, const char* help) { return {name, Param::Kind::boolean, value, help, 0, 0, {}}; }

Param text_param(const char* name, const char* value, const char* help) { return {name, Param::Kind::text, value, help, 0, 0, {}}; }

Param duration_param(const char* name, double value, const char* help) { return {name, Param::Kind::duration, value, help, 0, 0, {}}; }

Expected<Json> resolve_params(const ParamSchema& schema, const Json& given) {
  Json out = Json::object();
  for (const Param& p : schema) out[p.name] = p.default_value;
  if (given.is_null()) return out;
  if (!given.is_object()) return Error(ErrorCode::invalid_argument, "Expected an object of parameters, found " + dump_json(given));
  for (const auto& [key, value] : given.items()) {
    const auto it = std::find_if(schema.begin(), schema.end(), [&, k = key](const Param& p) { return p.name == k; });
    if (it == schema.end()) return Error(ErrorCode::invalid_argument, "Expected a known parameter name, found '" + key + "'");
    if (!kind_matches(*it, value))
      return Error(ErrorCode::invalid_argument, fmt::format("Expected {} for parameter '{}', found {}", kind_name(it->kind), key, dump_json(value)));
    if (it->kind == Param::Kind::choice && std::find(it->choices.begin(), it->choices.end(), value.get<std::string>()) == it->choices.end())
      return Error(ErrorCode::invalid_argument, fmt::format("Expected one of {} for parameter '{}', found {}", fmt::join(it->choices, ", "), key, dump_json(value)));
    if (it->max > it->min && value.is_number() && (value.get<double>() < it->min || value.get<double>() > it->max))
      return Error(ErrorCode::invalid_argument, fmt::format("Expected parameter '{}' between {} and {}, found {}", key, it->min, it->max, dump_json(value)));
    out[key] = value;
  }
  return out;
}

}  // namespace tw
