// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/json.h"

namespace tw::records {

/// Reads typed members of a JSON object without exceptions; the first problem is kept and returned by done().
class FieldReader {
 public:
  /// `what` completes "Expected ... " in errors, such as "a measurement".
  FieldReader(const Json& json, std::string what);

  template <class T>
  void required(const char* key, T& value) {
    read(key, value, true);
  }
  /// Leaves `value` alone if the key is missing.
  template <class T>
  void optional(const char* key, T& value) {
    read(key, value, false);
  }
  Expected<void> done() const;

 private:
  template <class T>
  void read(const char* key, T& value, bool required) {
    const Json* found = find(key, required);
    if (found && !convert(*found, value)) fail(key, *found);
  }
  const Json* find(const char* key, bool required);
  void fail(const char* key, const Json& found);
  static bool convert(const Json& json, std::string& value);
  static bool convert(const Json& json, bool& value);
  static bool convert(const Json& json, int& value);
  static bool convert(const Json& json, int64_t& value);
  static bool convert(const Json& json, double& value);
  static bool convert(const Json& json, Json& value);
  /// Without a copy, for as long as the object lives.
  static bool convert(const Json& json, const Json*& value) {
    value = &json;
    return true;
  }
  template <class T>
  static bool convert(const Json& json, std::vector<T>& value) {
    if (!json.is_array()) return false;
    value.assign(json.size(), T{});
    for (size_t i = 0; i < json.size(); ++i) {
      if (!convert(json[i], value[i])) return false;
    }
    return true;
  }

  const Json& json_;
  std::string what_;
  std::optional<Error> error_;
};

}  // namespace tw::records
