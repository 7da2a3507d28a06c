// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>
#include <vector>

#include "widgets/common/tabular.h"

class QCustomPlot;

namespace tw::widgets {

/// Speeds over the values of one resource. Speeds in FLOP/s; 0: none there.
struct ResourceCurves {
  struct Line {
    QString name;
    std::vector<double> middle;   ///< for each value
    std::vector<double> low, high;  ///< its band; empty: none
    bool isPoints = false;        ///< marks without a line
    bool leadsToTrials = false;   ///< a trial stands behind each of its points
  };
  struct Mark {
    double at = 0;  ///< in places of values: 1.5 lies between the second and the third
    QString text;
  };
  QString resource;
  QStringList values;  ///< as people read them
  std::vector<Line> lines;
  std::vector<Mark> marks;
};

/// Lines with bands and vertical marks. A click on a point that leads to a trial activates it; Left and Right go along the first such line.
class ResourceChart : public QWidget, public Tabular {
  Q_OBJECT
 public:
  explicit ResourceChart(QWidget* parent = nullptr);
  void setCurves(ResourceCurves curves);
  const ResourceCurves& curves() const { return m_curves; }
  QString summary() const;
  Table table() const override;

 Q_SIGNALS:
  /// A point of a line, by their places.
  void pointActivated(int line, int value);

 protected:
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void draw();
  void choose(const QPointF& at);
  void hover(const QPoint& at);
  /// The point near a pixel, as line and value; line -1: none.
  std::pair<int, int> pointNear(const QPointF& at, bool withTrial) const;
  void activate(int line, int value);

  QCustomPlot* m_plot;
  ResourceCurves m_curves;
  int m_line = -1, m_value = -1;  ///< activated last
};

}  // namespace tw::widgets
