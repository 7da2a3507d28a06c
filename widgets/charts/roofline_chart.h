// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <vector>

#include "widgets/common/tabular.h"

class QCustomPlot;

namespace tw::widgets {

/// Speed over arithmetic intensity, both logarithmic: a slope for each level of memory as it was measured, the peak as a level line, and kernels as points.
/// Source: Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore architectures", CACM 2009.
class RooflineChart : public QWidget, public Tabular {
  Q_OBJECT
 public:
  struct Level {
    QString name;
    double bytesPerS = 0;
  };
  struct Point {
    QString name;
    double flopsPerByte = 0, flopPerS = 0;
  };
  explicit RooflineChart(QWidget* parent = nullptr);
  void setMachine(double peak, std::vector<Level> levels);
  void setPoints(std::vector<Point> points);
  QString summary() const;
  Table table() const override;

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void draw();
  bool isAtFirst(const Point& p) const;
  QCustomPlot* m_plot;
  double m_peak = 0;
  std::vector<Level> m_levels;
  std::vector<Point> m_points;
};

}  // namespace tw::widgets
