// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/plot_theme.h"

#include <qcustomplot.h>

#include "widgets/theme/theme.h"

namespace tw::widgets {

void applyPlotTheme(QCustomPlot* plot, const Theme& theme) {
  plot->setBackground(QBrush(theme.base));
  for (QCPAxisRect* rect : plot->axisRects()) {
    rect->setBackground(QBrush(theme.base));
    for (QCPAxis* axis : rect->axes()) {
      axis->setBasePen(QPen(theme.border));
      axis->setTickPen(QPen(theme.border));
      axis->setSubTickPen(QPen(theme.border));
      axis->setTickLabelColor(theme.mutedText);
      axis->setLabelColor(theme.text);
      axis->setTickLabelFont(plot->font());
      axis->setLabelFont(plot->font());
      axis->grid()->setPen(QPen(theme.grid));
      axis->grid()->setZeroLinePen(QPen(theme.border));
    }
  }
  plot->legend->setBrush(QBrush(theme.base));
  plot->legend->setBorderPen(QPen(theme.border));
  plot->legend->setTextColor(theme.text);
  plot->legend->setFont(plot->font());
}

void showLegendAbove(QCustomPlot* plot) {
  plot->plotLayout()->insertRow(0);
  plot->plotLayout()->addElement(0, 0, plot->legend);
  plot->plotLayout()->setRowStretchFactor(0, 0.001);
  plot->legend->setFillOrder(QCPLegend::foColumnsFirst);
  plot->legend->setVisible(true);
}

}  // namespace tw::widgets
