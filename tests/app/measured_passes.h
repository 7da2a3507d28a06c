// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <algorithm>

#include "tests/app/app_fixture.h"
#include "widgets/ir/pass_strip.h"

namespace tw::app::fixture {

/// The network's passes in front, fusion chosen, and what leaving each out costs measured.
inline void showMeasuredPasses(MainWindow& window) {
  window.setPerspective(QStringLiteral("code"));
  showDock(window, "dock.passes");
  named<QComboBox>(window, "combo.passes.what")->setCurrentIndex(1);
  auto* strip = named<widgets::PassStrip>(window, "view.passes.strip");
  const auto fusion = [&] {
    const auto& all = strip->passes();
    const auto at = std::find_if(all.begin(), all.end(), [](const auto& p) { return p.name == QLatin1String("fuse_operators"); });
    return at == all.end() ? -1 : static_cast<int>(at - all.begin());
  };
  if (!QTest::qWaitFor([&] { return fusion() > 0; }, 60'000)) qFatal("The passes do not run");
  strip->select(fusion(), fusion());
  Q_EMIT strip->selected(fusion(), fusion());
  named<QToolButton>(window, "button.passes.measureAll")->click();
  if (!QTest::qWaitFor([&] { return !window.passCosts().isActive(); }, 120'000)) qFatal("The passes are not measured");
}

}  // namespace tw::app::fixture
