// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <simdjson.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/assert.h"
#include "engine/base/expected.h"
#include "engine/base/json_fwd.h"

/// The lines of other programs' logs are read in place, with simdjson: a tree of values for each of them would take several times as long.
namespace tw::records {

using JsonElement = simdjson::dom::element;

/// Reads one line after the other.
class LogJson {
 public:
  LogJson();
  /// Valid until the next call. Accepts what parse_json accepts, but no numbers outside 64 bits; its errors too.
  Expected<JsonElement> parse(std::string_view text);

 private:
  simdjson::dom::parser parser_;
};

/// As dump_json writes it.
std::string json_text(JsonElement element);
void append_json(std::string& out, JsonElement element);
Json to_json(JsonElement element);

/// "object", "array", "string", "number", "boolean" or "null".
const char* type_name(JsonElement element);
inline bool is_number(JsonElement e) { return e.is_int64() || e.is_uint64() || e.is_double(); }
inline bool is_integer(JsonElement e) { return e.is_int64() || e.is_uint64(); }
/// What an element holds whose type is known.
template <class T>
T value_of(JsonElement e) {
  T value{};
  const simdjson::error_code code = e.get(value);
  TW_ASSERT(code == simdjson::SUCCESS, "the type of an element");
  return value;
}
inline std::string string_of(JsonElement e) { return std::string(value_of<std::string_view>(e)); }
inline simdjson::dom::array array_of(JsonElement e) { return value_of<simdjson::dom::array>(e); }
inline simdjson::dom::object object_of(JsonElement e) { return value_of<simdjson::dom::object>(e); }

/// The member of an object with that key, the last of several; none if it is no object.
std::optional<JsonElement> member(JsonElement object, std::string_view key);

/// The first N elements of an array of at least N; none for anything else.
template <size_t N>
std::optional<std::array<JsonElement, N>> leading(JsonElement element) {
  simdjson::dom::array array;
  if (element.get(array) != simdjson::SUCCESS) return std::nullopt;
  std::array<JsonElement, N> items;
  size_t n = 0;
  for (const JsonElement item : array) {
    if (n == N) break;
    items[n++] = item;
  }
  return n == N ? std::optional(items) : std::nullopt;
}
/// The elements of an array of exactly N.
template <size_t N>
std::optional<std::array<JsonElement, N>> exactly(JsonElement element) {
  simdjson::dom::array array;
  return element.get(array) == simdjson::SUCCESS && array.size() == N ? leading<N>(element) : std::nullopt;
}

/// What readers say of a line.
inline Error bad_line(std::string message) { return Error(ErrorCode::parse_error, std::move(message)); }
/// The part of a line that a message quotes.
std::string shown(JsonElement element);

}  // namespace tw::records
