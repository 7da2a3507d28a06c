// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/expected.h"
#include "engine/base/json_fwd.h"
#include "engine/lesson/lesson.h"

/// What a learner did, as it is kept, handed in and collected.
namespace tw::lesson {

enum class StepState { open, done, shown, skipped };
const char* step_state_name(StepState state);

struct StepRecord {
  std::string step;
  StepState state = StepState::open;
  int hints = 0;       ///< that were asked for
  int wrong = 0;       ///< answers and runs that were wrong
  std::string answer;  ///< the last that was given
  double when_s = 0;   ///< when it was done, shown or skipped, Unix time
};

struct LessonRecord {
  std::string lesson, title;
  std::vector<StepRecord> steps;
  double begun_s = 0;  ///< when it was begun, or begun again, Unix time: checks that count look no further back; 0: not known

  StepRecord& at(const std::string& step);
  /// Of the lesson's own steps, those that are no longer open.
  int finished(const Lesson& of) const;
};

/// One learner's file.
struct Handed {
  std::string learner;
  std::vector<LessonRecord> lessons;
};

Json to_json(const LessonRecord& record);
/// Errors: parse_error.
Expected<LessonRecord> lesson_record_from(const Json& json);
std::string handed_text(const Handed& handed);
/// Errors: parse_error, version; resource_limit for more than 4 MiB.
Expected<Handed> read_handed(std::string_view text);
/// One line a step of each learner, with a heading.
std::string handed_csv(const std::vector<Handed>& all);

}  // namespace tw::lesson
