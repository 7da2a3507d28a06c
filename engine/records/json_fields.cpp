// SPDX-License-Identifier: Apache-2.0
#include "engine/records/json_fields.h"

#include <limits>

#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::records {

FieldReader::FieldReader(const Json& json, std::string what) : json_(json), what_(std::move(what)) {
  if (!json.is_object()) error_ = Error(ErrorCode::parse_error, fmt::format("Expected {} as an object, found {}", what_, json.type_name()));
}

Expected<void> FieldReader::done() const {
  if (error_) return *error_;
  return {};
}

const Json* FieldReader::find(const char* key, bool required) {
  if (error_) return nullptr;
  const auto found = json_.find(key);
  if (found != json_.end()) return &*found;
  if (required) error_ = Error(ErrorCode::parse_error, fmt::format("Expected {} with the key '{}', found none", what_, key));
  return nullptr;
}

void FieldReader::fail(const char* key, const Json& found) {
  std::string text = printable(dump_json(found));
  if (text.size() > 60) text.replace(57, std::string::npos, "...");
  error_ = Error(ErrorCode::parse_error, fmt::format("Expected {} whose '{}' has another type, found {}", what_, key, text));
}

bool FieldReader::convert(const Json& json, std::string& value) {
  if (!json.is_string()) return false;
  value = json.get<std::string>();
  return true;
}

bool FieldReader::convert(const Json& json, bool& value) {
  if (!json.is_boolean()) return false;
  value = json.get<bool>();
  return true;
}

bool FieldReader::convert(const Json& json, int64_t& value) {
  if (!json.is_number_integer()) return false;
  if (json.is_number_unsigned() && json.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return false;
  value = json.get<int64_t>();
  return true;
}

bool FieldReader::convert(const Json& json, int& value) {
  int64_t wide = 0;
  if (!convert(json, wide) || wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) return false;
  value = static_cast<int>(wide);
  return true;
}

bool FieldReader::convert(const Json& json, double& value) {
  if (!json.is_number()) return false;
  value = json.get<double>();
  return true;
}

bool FieldReader::convert(const Json& json, Json& value) {
  value = json;
  return true;
}

}  // namespace tw::records
