// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

namespace tw::app {

/// Windows narrower than this have no right panel, in some perspectives wider ones neither.
inline constexpr int kWide = 1500;

/// The least size of what is drawn in each of two plots that share the centre; else they are tabs in one place.
inline constexpr int kLeastPlotWidth = 450, kLeastPlotHeight = 260;

/// Where the lower part of the centre stands: under the upper one; beside it where the height does not do; among its tabs where the width does not do either.
enum class Split { over, beside, tabs };

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
  bool hasPlots = false;  ///< the two parts of the centre are plots, which need room: see Split
  QStringList shown() const { return left + leftBelow + top + bottom + right + drawer; }
};

inline constexpr int kDrawerHeight = 190, kLowDrawerHeight = 160;  ///< at first; the second in low windows
inline constexpr int kChrome = 110;  ///< menu, run bar and status bar, about
inline constexpr int kLeastBottom = 200;

/// What of an arrangement a window has room for.
struct FrameFit {
  bool wide = true;  ///< there is a right panel
  Split split = Split::over;
  friend bool operator==(const FrameFit&, const FrameFit&) = default;
};
/// Pixels of the window with letters of the usual size, and those of them that panels along its sides take. The drawer counts as open, so that opening it moves nothing.
FrameFit frameFit(const PerspectiveDef& def, double width, double height, double taken);
/// Widths of the side panels, which are wider in wide windows.
int sideWidth(int pixels, double width);

/// All perspectives in the order of their tabs and shortcuts Ctrl+1...; perspectives.cpp. The first is that of a new user.
const std::vector<PerspectiveDef>& perspectives();

}  // namespace tw::app
