// SPDX-License-Identifier: Apache-2.0
#include "app/logs/lesson_page.h"

#include <fmt/format.h>

#include <map>

#include "app/logs/page.h"
#include "engine/base/text.h"

namespace tw::logs {
namespace {

std::string lesson_part(const lesson::LessonRecord& l) {
  std::map<lesson::StepState, int> counts;
  std::string rows = page_row({"Step", "State", "Hints", "Wrong", "Last answer", "When"}, "th");
  for (const lesson::StepRecord& s : l.steps) {
    ++counts[s.state];
    rows += page_row({markup_text(s.step), lesson::step_state_name(s.state), std::to_string(s.hints), std::to_string(s.wrong), markup_text(s.answer), s.when_s > 0 ? date_text(s.when_s) : ""});
  }
  std::string sum;
  for (const auto& [state, count] : counts) sum += fmt::format("{}{} {}", sum.empty() ? "Steps: " : ", ", count, lesson::step_state_name(state));
  const std::string title = l.title.empty() ? l.lesson : l.title;
  return fmt::format("<h3>{}</h3>\n<p>{}</p>\n<table>\n{}</table>\n", markup_text(title), sum, rows);
}

}  // namespace

std::string lesson_page(std::span<const lesson::Handed> all) {
  const std::string title = all.size() == 1 && !all[0].learner.empty() ? "Lessons of " + all[0].learner : "Lessons";
  std::string page = page_head(title);
  for (const lesson::Handed& h : all) {
    if (all.size() > 1) page += fmt::format("<h2>{}</h2>\n", markup_text(h.learner));
    if (h.lessons.empty()) page += "<p>No lesson was begun.</p>\n";
    for (const lesson::LessonRecord& l : h.lessons) page += lesson_part(l);
  }
  return page + page_end();
}

}  // namespace tw::logs
