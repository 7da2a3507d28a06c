// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/plot_theme.h"

#include <qcustomplot.h>

#include <algorithm>

#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {
constexpr int kIconWidth = 32, kLeastIconHeight = 18;
}

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
  // Names are clipped to their rows, which are as high as their icons: below the line letters reach a pixel further than their font says.
  plot->legend->setIconSize(kIconWidth, std::max(kLeastIconHeight, QFontMetrics(plot->font()).height() + 3));
}

namespace {

constexpr int kLeastWidthOfPlot = 160;

class WheelPasses : public QObject {
 public:
  using QObject::QObject;
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() != QEvent::Wheel) return false;
    event->ignore();  // it goes on to the parent
    return true;
  }
};

/// As many columns as the plot is wide, so that no name is cut.
void wrapLegend(QCustomPlot* plot) {
  QCPLegend* legend = plot->legend;
  int widest = 1, items = 0;
  for (int i = 0; i < legend->itemCount(); ++i) {
    const QCPLayoutElement* item = legend->item(i);
    if (!item) continue;  // a place of its grid that is empty
    ++items;
    widest = std::max(widest, item->minimumOuterSizeHint().width());
  }
  const QMargins margins = legend->margins();
  const int room = plot->viewport().width() - margins.left() - margins.right() + legend->columnSpacing();
  const int columns = std::clamp(room / (widest + legend->columnSpacing()), 1, std::max(1, items));
  if (legend->wrap() == columns && legend->columnCount() <= columns) return;
  legend->setWrap(columns);
  legend->setFillOrder(QCPLayoutGrid::foColumnsFirst, true);
}

}  // namespace

void letWheelPass(QCustomPlot* plot) {
  plot->setAttribute(Qt::WA_NoMousePropagation, false);  // with it nothing ever reaches the page
  plot->installEventFilter(new WheelPasses(plot));
}

void showLegendAbove(QCustomPlot* plot) {
  plot->plotLayout()->insertRow(0);
  plot->plotLayout()->addElement(0, 0, plot->legend);
  plot->plotLayout()->setRowStretchFactor(0, 0.001);
  plot->legend->setFillOrder(QCPLegend::foColumnsFirst);
  plot->legend->setVisible(true);
  plot->setMinimumWidth(kLeastWidthOfPlot);  // else it is that of the legend in one row
  QObject::connect(plot, &QCustomPlot::beforeReplot, plot, [plot] { wrapLegend(plot); });
}

}  // namespace tw::widgets
