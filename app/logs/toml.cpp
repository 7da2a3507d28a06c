// SPDX-License-Identifier: Apache-2.0
#include "app/logs/toml.h"

#define TOML_EXCEPTIONS 0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <sstream>

#include "engine/base/text.h"

namespace tw::logs {
namespace {

Json json_of_toml(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    Json out = Json::object();
    for (const auto& [key, value] : *table) out[std::string(key.str())] = json_of_toml(value);
    return out;
  }
  if (const auto* array = node.as_array()) {
    Json out = Json::array();
    for (const toml::node& value : *array) out.push_back(json_of_toml(value));
    return out;
  }
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* truth = node.as_boolean()) return truth->get();
  std::ostringstream text;
  node.visit([&](const auto& value) { text << value; });
  return text.str();
}

}  // namespace

Expected<Json> parse_toml(std::string_view text, const std::string& where) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& e = parsed.error();
    return Error(ErrorCode::parse_error, fmt::format("Expected TOML, found an error in line {}, column {}: {}", e.source().begin.line, e.source().begin.column, printable(e.description())), where);
  }
  return json_of_toml(parsed.table());
}

}  // namespace tw::logs
