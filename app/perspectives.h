// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

namespace tw::app {

/// Windows narrower than this have no right panel, in some perspectives wider ones neither.
inline constexpr int kWide = 1500;

/// An arrangement of the views for one kind of work. Lists name views; those of one list are tabs in one place, the first in front.
struct PerspectiveDef {
  const char* id;  ///< stable; its action is `view.perspective.<id>`
  QString (*title)();
  QString (*help)();
  QStringList left, leftBelow;  ///< the left panel, and a second one under it
  QStringList top, bottom;      ///< the centre, in two parts over each other
  QStringList right;            ///< in windows narrower than `rightFrom` these are tabs of `top`
  QStringList drawer;           ///< along the bottom of the window
  int leftWidth, rightWidth;    ///< pixels
  int topPercent;               ///< of the centre's height
  int topAtLeast;               ///< pixels, as far as the lower part keeps kLeastBottom
  bool isDrawerOpen;
  int rightFrom = kWide;
  QStringList shown() const { return left + leftBelow + top + bottom + right + drawer; }
};

inline constexpr int kDrawerHeight = 190;
inline constexpr int kLeastBottom = 200;

/// All perspectives in the order of their tabs and shortcuts Ctrl+1...; perspectives.cpp. The first is that of a new user.
const std::vector<PerspectiveDef>& perspectives();

}  // namespace tw::app
