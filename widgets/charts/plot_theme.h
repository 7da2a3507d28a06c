// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QCustomPlot;
class QCPAxisRect;

namespace tw::widgets {

struct Theme;

/// QCustomPlot takes no colours from the palette: background, axes, grid, labels and legend are set here.
void applyPlotTheme(QCustomPlot* plot, const Theme& theme);

/// Lists what is drawn above the axes, where it covers nothing, in as many rows as names need.
void showLegendAbove(QCustomPlot* plot);

/// Plots of so few pixels show less beside the curves.
inline bool isLowPlot(int height) { return height < 410; }

/// The wheel scrolls the page that the plot stands on.
void letWheelPass(QCustomPlot* plot);

}  // namespace tw::widgets
