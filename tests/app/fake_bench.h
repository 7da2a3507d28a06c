// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/app/app_fixture.h"
#include "tests/app/fake_engine.h"
#include "widgets/common/integer_box.h"

namespace tw::app::fixture {

/// The window on an engine that measures nothing.
struct FakeBench {
  FakeEngine engine;
  std::unique_ptr<MainWindow> window;
};

/// With the engine's network on screen, unless `model` is false.
inline std::unique_ptr<FakeBench> openFake(const QString& database, bool model = true) {
  auto bench = std::make_unique<FakeBench>();
  bench->window = openWindow(bench->engine, database);
  if (model) {
    QSignalSpy laidOut(&bench->window->graphPage(), &GraphPage::laidOut);
    bench->window->openZoo(QStringLiteral("fake"), false);
    if (laidOut.isEmpty()) laidOut.wait(5000);
  }
  return bench;
}

inline void setTrials(MainWindow& window, int trials) { named<widgets::IntegerBox>(window, "edit.tune.trials")->setValue(trials); }

}  // namespace tw::app::fixture
