// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "engine/base/expected.h"
#include "engine/base/json.h"

/// Fields of the files that say what is to run: races and campaigns.
namespace tw::logs {

/// invalid_argument at the file.
Error wrong_plan(const std::string& what, const std::string& file);
/// An object with these keys alone; `what` it is. Errors: wrong_plan() naming another key.
Expected<void> only_keys(const Json& object, const char* what, std::initializer_list<const char*> keys, const std::string& file);
/// A text, or nothing where the key is not there. Errors: wrong_plan() for what is no text.
Expected<std::optional<std::string>> text_field(const Json& object, const char* key, const std::string& file);

}  // namespace tw::logs
