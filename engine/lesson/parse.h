// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "engine/base/expected.h"
#include "engine/lesson/lesson.h"

namespace tw::lesson {

// What keeps hostile texts from asking for much memory or time.
inline constexpr size_t kMaxLesson = 256 << 10, kMaxSteps = 64, kMaxLines = 32;

/// Reads a lesson. Errors: parse_error with line and column (ir::place_of); resource_limit for texts beyond the limits.
Expected<Lesson> parse_lesson(std::string_view text);

/// What only programs know: the names of what a lesson may open and start.
struct Names {
  std::vector<std::string> networks, operators, spaces, tuners;
  std::function<Expected<void>(const std::string& target)> target;
  /// A computation as an editor of operators reads it; where its error is, is in the text.
  std::function<Expected<void>(const std::string& text)> computation;
};

/// Everything that is wrong with a lesson which could be read: names that nothing has, an exercise that is right from the start or whose solution is wrong.
/// Errors have line and column.
std::vector<Error> verify(const Lesson& lesson, const Names& names);

}  // namespace tw::lesson
