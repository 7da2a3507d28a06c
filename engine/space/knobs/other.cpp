// SPDX-License-Identifier: Apache-2.0
#include "engine/space/knobs/other.h"

#include "engine/base/json.h"

namespace tw::space {
namespace {

Json as_number(const Json& value) { return value.is_boolean() ? Json(value.get<bool>() ? 1 : 0) : value; }

std::string python_repr(const Json& value) {
  if (!value.is_string()) return python_text(value);
  return "'" + value.get<std::string>() + "'";
}

}  // namespace

std::vector<KnobValue> enumerate_other(std::vector<Json> candidates) {
  std::vector<KnobValue> result;
  for (Json& candidate : candidates) {
    KnobValue value;
    value.other = std::move(candidate);
    result.push_back(std::move(value));
  }
  return result;
}

bool same_other(const Json& a, const Json& b) { return as_number(a) == as_number(b); }

std::string python_text(const Json& value) {
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return dump_json(value);
  std::string text = "[";
  for (const Json& item : value) text += (text.size() > 1 ? ", " : "") + python_repr(item);
  return text + "]";
}

}  // namespace tw::space
