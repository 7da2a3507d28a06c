// SPDX-License-Identifier: Apache-2.0
#include "engine/records/log_json.h"

#include "engine/base/json.h"
#include "engine/base/json_text.h"
#include "engine/base/text.h"

namespace tw::records {
namespace {

constexpr size_t kLineBytes = 4096, kMaxDepth = 64;

}  // namespace

LogJson::LogJson() {
  const simdjson::error_code code = parser_.allocate(kLineBytes, kMaxDepth);
  TW_ASSERT(code == simdjson::SUCCESS, "memory for a line");
}

Expected<JsonElement> LogJson::parse(std::string_view text) {
  JsonElement root;
  if (parser_.parse(text.data(), text.size()).get(root) == simdjson::SUCCESS) return root;
  TW_CHECK(parse_json(text));  // says what is wrong and where
  return Error(ErrorCode::parse_error, "Expected a JSON document, found a value outside the format's limits");
}

void append_json(std::string& out, JsonElement element) {
  using simdjson::dom::element_type;
  switch (element.type()) {
    case element_type::ARRAY: {
      char separator = '[';
      for (const JsonElement item : array_of(element)) {
        out += std::exchange(separator, ',');
        append_json(out, item);
      }
      out += separator == '[' ? "[]" : "]";
      return;
    }
    case element_type::OBJECT: {
      char separator = '{';
      for (const auto& [key, value] : object_of(element)) {
        out += std::exchange(separator, ',');
        tw::append_json(out, key);
        out += ':';
        append_json(out, value);
      }
      out += separator == '{' ? "{}" : "}";
      return;
    }
    case element_type::STRING:
      return tw::append_json(out, value_of<std::string_view>(element));
    case element_type::INT64:
      return tw::append_json(out, value_of<int64_t>(element));
    case element_type::UINT64:
      return tw::append_json(out, value_of<uint64_t>(element));
    case element_type::DOUBLE:
      out += dump_json(Json(value_of<double>(element)));
      return;
    case element_type::BOOL:
      out += value_of<bool>(element) ? "true" : "false";
      return;
    case element_type::NULL_VALUE:
      out += "null";
      return;
  }
}

std::string json_text(JsonElement element) {
  std::string text;
  append_json(text, element);
  return text;
}

Json to_json(JsonElement element) { return parse_json(json_text(element)).value(); }

const char* type_name(JsonElement element) {
  if (element.is_object()) return "object";
  if (element.is_array()) return "array";
  if (element.is_string()) return "string";
  if (element.is_bool()) return "boolean";
  return element.is_null() ? "null" : "number";
}

std::optional<JsonElement> member(JsonElement object, std::string_view key) {
  std::optional<JsonElement> found;
  simdjson::dom::object members;
  if (object.get(members) != simdjson::SUCCESS) return found;
  for (const auto& [name, value] : members) {
    if (name == key) found = value;
  }
  return found;
}

std::string shown(JsonElement element) {
  std::string text = printable(json_text(element));
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

}  // namespace tw::records
