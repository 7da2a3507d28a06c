// SPDX-License-Identifier: Apache-2.0
#include "engine/records/python_json.h"

#include <cmath>

#include "engine/base/json.h"

namespace tw::records {
namespace {

std::string atom(const Json& value) {
  if (value.is_number_float()) {
    const double number = value.get<double>();
    // The two shortest forms differ only here: Python keeps 16 digits before the point, the library 15.
    if (std::abs(number) >= 1e15 && std::abs(number) < 1e16 && number == std::floor(number)) return std::to_string(static_cast<int64_t>(number)) + ".0";
  }
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

void write(const Json& value, std::string& out) {
  if (!value.is_structured()) {
    out += atom(value);
    return;
  }
  const bool object = value.is_object();
  out += object ? '{' : '[';
  bool first = true;
  for (const auto& item : value.items()) {
    if (!first) out += ", ";
    first = false;
    if (object) out += atom(item.key()) + ": ";
    write(item.value(), out);
  }
  out += object ? '}' : ']';
}

}  // namespace

std::string python_json(const Json& value) {
  std::string out;
  write(value, out);
  return out;
}

}  // namespace tw::records
