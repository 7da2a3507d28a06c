// SPDX-License-Identifier: Apache-2.0
#include "app/logs/plan_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/base/text.h"

namespace tw::logs {

Error wrong_plan(const std::string& what, const std::string& file) { return Error(ErrorCode::invalid_argument, what, file); }

Expected<void> only_keys(const Json& object, const char* what, std::initializer_list<const char*> keys, const std::string& file) {
  if (!object.is_object()) return wrong_plan(fmt::format("Expected {} as an object, found {}", what, object.type_name()), file);
  for (const auto& item : object.items())
    if (std::none_of(keys.begin(), keys.end(), [&](const char* key) { return item.key() == key; }))
      return wrong_plan(fmt::format("Expected {} with {}, found '{}'", what, fmt::join(keys, ", "), printable(item.key())), file);
  return {};
}

Expected<std::optional<std::string>> text_field(const Json& object, const char* key, const std::string& file) {
  if (!object.contains(key)) return std::optional<std::string>();
  if (!object[key].is_string()) return wrong_plan(fmt::format("Expected a text for '{}', found {}", key, object[key].type_name()), file);
  return std::optional(object[key].get<std::string>());
}

}  // namespace tw::logs
