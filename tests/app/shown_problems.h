// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/services/explain_service.h"
#include "tests/app/app_fixture.h"

namespace tw::app::fixture {

/// A point that breaks a rule of its space, and a file that is not there.
inline void showProblems(MainWindow& window) {
  if (!QTest::qWaitFor([&] { return window.explaining().spacesKnown(); }, 60'000)) qFatal("The spaces are not known");
  const auto& space = window.explaining().space();
  for (int64_t i = space.space ? space.space->size() - 1 : -1; i >= 0; --i) {
    if (space.space->filtered_reason(*space.space->get(i)).empty()) continue;
    window.hub().setConfigIndex(i);
    break;
  }
  window.openFile(QStringLiteral("/nowhere/model.onnx"));
}

}  // namespace tw::app::fixture
