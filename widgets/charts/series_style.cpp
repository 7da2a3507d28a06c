// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/series_style.h"

#include <qcustomplot.h>

#include "widgets/theme/theme.h"

namespace tw::widgets {

SeriesStyle seriesStyle(const Theme& theme, int i) {
  struct Second {
    Qt::PenStyle line;
    QCPScatterStyle::ScatterShape marker;
    char16_t glyph;
  };
  static constexpr Second kSeconds[] = {
      {Qt::SolidLine, QCPScatterStyle::ssDisc, 0x25CF}, {Qt::DashLine, QCPScatterStyle::ssTriangle, 0x25B2},
      {Qt::DotLine, QCPScatterStyle::ssSquare, 0x25A0}, {Qt::DashDotLine, QCPScatterStyle::ssDiamond, 0x25C6},
      {Qt::SolidLine, QCPScatterStyle::ssPlus, 0x271A}, {Qt::DashDotDotLine, QCPScatterStyle::ssTriangleInverted, 0x25BC},
      {Qt::DashLine, QCPScatterStyle::ssCross, 0x2716},
  };
  // The colours that a chart gives to its own trials and best come last.
  static constexpr size_t kColours[] = {0, 1, 2, 3, 7, 6, 4, 5};
  const Second& second = kSeconds[static_cast<size_t>(i) % std::size(kSeconds)];
  return {theme.series[kColours[static_cast<size_t>(i) % std::size(kColours)]], second.line, second.marker, QChar(second.glyph)};
}

}  // namespace tw::widgets
