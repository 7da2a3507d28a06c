// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include "app/services/local_engine.h"
#include "tests/app/lesson_player.h"

namespace tw::app::fixture {

/// The steps that stand for the lessons in pictures, done by "Show me"; all lessons that there are.
inline const std::vector<std::pair<const char*, const char*>>& picturedSteps() {
  static const std::vector<std::pair<const char*, const char*>> steps = {
      {"schedule", "linked"},   {"split-reorder", "split"}, {"tiling", "first"},      {"vectors", "fma"},    {"fusion", "node"},       {"memory", "build"},
      {"roofline", "measure"}, {"measuring", "session"},   {"gpu-blocks", "warp"}, {"gpu-shared", "pad"}, {"gpu-races", "reverse"}, {"tuners", "race"}};
  return steps;
}

/// Shows each lesson at its step and calls `take` with its name.
inline void showLessons(Engine& engine, const QString& database, const std::function<void(MainWindow&, const QString& lesson)>& take) {
  const auto window = openWindow(engine, database);
  LessonPlayer player(*window);
  for (const lesson::Entry& e : window->lessons().entries()) {
    const auto& all = picturedSteps();
    const auto of = std::find_if(all.begin(), all.end(), [&](const auto& p) { return e.lesson && e.lesson->id == p.first; });
    if (of == all.end()) qFatal("A lesson has no picture: %s", e.file.c_str());
    window->resize(1366, 768);  // the smallest screen that lessons are for
    window->startLesson(QLatin1String(of->first), QLatin1String(of->second));
    if (!player.settle()) qFatal("The lesson %s does not begin", of->first);
    window->lessons().showMe();
    if (!QTest::qWaitFor([&] { return window->lessons().state() == lesson::StepState::shown; }, 120'000)) qFatal("The lesson %s cannot be shown", of->first);
    player.settle();
    QTest::qWait(1200);
    if (window->width() > 1366) qFatal("The lesson %s needs a window of %d pixels", of->first, window->width());
    take(*window, QLatin1String(of->first));
  }
  window->lessons().leave();
}

}  // namespace tw::app::fixture
