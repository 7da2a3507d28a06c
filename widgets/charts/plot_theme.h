// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QCustomPlot;
class QCPAxisRect;

namespace tw::widgets {

struct Theme;

/// QCustomPlot takes no colours from the palette: background, axes, grid, labels and legend are set here.
void applyPlotTheme(QCustomPlot* plot, const Theme& theme);

/// Lists what is drawn in a row above the axes, where it covers nothing.
void showLegendAbove(QCustomPlot* plot);

}  // namespace tw::widgets
