// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::lesson {
namespace {

constexpr const char* kKey = "tilewright_lessons";
constexpr int kVersion = 1;
constexpr size_t kMostText = 4 << 20;
constexpr StepState kStates[] = {StepState::open, StepState::done, StepState::shown, StepState::skipped};

Error not_handed(const std::string& what) { return {ErrorCode::parse_error, fmt::format("Expected what a learner handed in: {}", what)}; }

std::string text_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

double number_of_key(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

int count_of_key(const Json& json, const char* key) { return static_cast<int>(std::clamp(number_of_key(json, key), 0.0, 1e6)); }

/// For a table program: quoted, and never a formula.
std::string csv_field(const std::string& text) {
  std::string out = "\"";
  if (!text.empty() && std::string_view("=+-@\t").find(text[0]) != std::string_view::npos) out += '\'';
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

}  // namespace

const char* step_state_name(StepState state) {
  switch (state) {
    case StepState::open:
      return "open";
    case StepState::done:
      return "done";
    case StepState::shown:
      return "shown";
    case StepState::skipped:
      break;
  }
  return "skipped";
}

StepRecord& LessonRecord::at(const std::string& step) {
  const auto found = std::find_if(steps.begin(), steps.end(), [&](const StepRecord& r) { return r.step == step; });
  if (found != steps.end()) return *found;
  steps.push_back({.step = step});
  return steps.back();
}

int LessonRecord::finished(const Lesson& of) const {
  return static_cast<int>(std::count_if(steps.begin(), steps.end(), [&](const StepRecord& r) { return r.state != StepState::open && of.step(r.step) >= 0; }));
}

Json to_json(const LessonRecord& record) {
  Json steps = Json::array();
  for (const StepRecord& s : record.steps)
    steps.push_back({{"step", s.step}, {"state", step_state_name(s.state)}, {"hints", s.hints}, {"wrong", s.wrong}, {"answer", s.answer}, {"when_s", s.when_s}});
  return {{"lesson", record.lesson}, {"title", record.title}, {"begun_s", record.begun_s}, {"steps", steps}};
}

Expected<LessonRecord> lesson_record_from(const Json& json) {
  if (!json.is_object()) return not_handed("a lesson is no object");
  LessonRecord record{text_of(json, "lesson"), text_of(json, "title"), {}, number_of_key(json, "begun_s")};
  if (record.lesson.empty()) return not_handed("a lesson has no name");
  const auto steps = json.find("steps");
  if (steps == json.end() || !steps->is_array()) return not_handed("a lesson has no steps");
  for (const Json& s : *steps) {
    if (!s.is_object() || text_of(s, "step").empty()) return not_handed("a step has no name");
    const std::string state = text_of(s, "state");
    const auto known = std::find_if(std::begin(kStates), std::end(kStates), [&](StepState k) { return state == step_state_name(k); });
    if (known == std::end(kStates)) return not_handed(fmt::format("a step is open, done, shown or skipped, found '{}'", printable(state)));
    record.steps.push_back({text_of(s, "step"), *known, count_of_key(s, "hints"), count_of_key(s, "wrong"), text_of(s, "answer"), number_of_key(s, "when_s")});
  }
  return record;
}

std::string handed_text(const Handed& handed) {
  Json lessons = Json::array();
  for (const LessonRecord& l : handed.lessons) lessons.push_back(to_json(l));
  return dump_json({{kKey, kVersion}, {"learner", handed.learner}, {"lessons", lessons}}, 1) + "\n";
}

Expected<Handed> read_handed(std::string_view text) {
  if (text.size() > kMostText) return Error(ErrorCode::resource_limit, fmt::format("Expected at most {} MiB", kMostText >> 20));
  TW_TRY(const Json json, parse_json(text));
  if (!json.is_object() || !json.contains(kKey)) return not_handed(fmt::format("it has no '{}'", kKey));
  if (!json[kKey].is_number_integer() || json[kKey].get<int64_t>() > kVersion) return Error(ErrorCode::version, fmt::format("Expected version {} of what a learner handed in, found {}", kVersion, dump_json(json[kKey])));
  Handed handed{text_of(json, "learner"), {}};
  const auto lessons = json.find("lessons");
  if (lessons == json.end() || !lessons->is_array()) return not_handed("it has no lessons");
  for (const Json& l : *lessons) {
    TW_TRY(LessonRecord record, lesson_record_from(l));
    handed.lessons.push_back(std::move(record));
  }
  return handed;
}

std::string handed_csv(const std::vector<Handed>& all) {
  std::string out = "learner,lesson,step,state,hints,wrong,answer,when_s\n";
  for (const Handed& h : all)
    for (const LessonRecord& l : h.lessons)
      for (const StepRecord& s : l.steps)
        out += fmt::format("{},{},{},{},{},{},{},{:.0f}\n", csv_field(h.learner), csv_field(l.lesson), csv_field(s.step), step_state_name(s.state), s.hints, s.wrong, csv_field(s.answer), s.when_s);
  return out;
}

}  // namespace tw::lesson
