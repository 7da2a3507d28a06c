// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::measure {

/// Reads typed members of a JSON object; the first thing that is wrong is kept as the error.
class Fields {
 public:
  explicit Fields(const Json& json) : json_(json) {}

  template <class T>
  T number(const char* key) {
    const Json* v = find(key);
    if (v == nullptr) return {};
    if (v->is_number()) return v->get<T>();
    fail(key, "a number");
    return {};
  }
  bool boolean(const char* key) {
    const Json* v = find(key);
    if (v == nullptr) return false;
    if (v->is_boolean()) return v->get<bool>();
    fail(key, "true or false");
    return false;
  }
  std::string text(const char* key) {
    const Json* v = find(key);
    if (v == nullptr) return {};
    if (v->is_string()) return v->get<std::string>();
    fail(key, "text");
    return {};
  }
  const Json& list(const char* key) {
    static const Json kEmpty = Json::array();
    const Json* v = find(key);
    if (v == nullptr) return kEmpty;
    if (v->is_array()) return *v;
    fail(key, "a list");
    return kEmpty;
  }
  template <class T>
  std::vector<T> numbers(const char* key) {
    std::vector<T> out;
    for (const Json& v : list(key)) {
      if (!v.is_number()) {
        fail(key, "a list of numbers");
        return {};
      }
      out.push_back(v.get<T>());
    }
    return out;
  }
  void fail(const char* key, const char* expected) {
    if (!error_) error_ = Error(ErrorCode::parse_error, fmt::format("Expected {} as \"{}\" in a message between program and worker", expected, key));
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const Json* find(const char* key) {
    if (json_.contains(key)) return &json_[key];
    fail(key, "a value");
    return nullptr;
  }
  const Json& json_;
  std::optional<Error> error_;
};

}  // namespace tw::measure
