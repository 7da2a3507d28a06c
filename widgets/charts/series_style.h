// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>

namespace tw::widgets {

struct Theme;

/// How the i-th of several curves is told from the others: never by colour alone.
struct SeriesStyle {
  QColor color;
  Qt::PenStyle line = Qt::SolidLine;
  int marker = 0;  ///< a QCPScatterStyle::ScatterShape
  QChar glyph;     ///< the same marker in text
};
SeriesStyle seriesStyle(const Theme& theme, int i);

}  // namespace tw::widgets
