// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "widgets/charts/descent_data.h"
#include "widgets/common/tabular.h"

class QCustomPlot;

namespace tw::widgets {

/// Where limits lie on the two variables that a DescentChart shows, while the others stand still: by column and row of points from 0 to `most` of each, by how much
/// the limit that is exceeded most is exceeded, as a logarithm; 0 at most: all are kept.
struct DescentBorders {
  int columns = 0, rows = 0;
  std::vector<double> excess;  ///< [rows, columns]
};

/// Seeds going downhill in a schedule space: on the left their ways on two variables, from hollow circles on, with the whole points that were chosen of them as
/// squares and what limits forbid shaded; on the right the objective's terms over the steps. A click or the arrow keys choose a candidate.
class DescentChart : public QWidget, public Tabular {
  Q_OBJECT
 public:
  explicit DescentChart(QWidget* parent = nullptr);
  void setDescent(Descent descent);
  const Descent& descent() const { return m_descent; }
  bool isEmpty() const { return m_descent.variables.isEmpty(); }
  /// Which variables the left side shows.
  void setAxes(int x, int y);
  void setBorders(DescentBorders borders);
  /// Of Descent::chosen; -1: none.
  void setChosen(int candidate);
  int chosen() const { return m_chosen; }
  /// The two variables on which the ways are longest, the longer one first.
  std::pair<int, int> widestAxes() const;
  QString summary() const;
  Table table() const override;

 Q_SIGNALS:
  void candidateActivated(int candidate);

 protected:
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void draw();
  void drawWays();
  void drawObjective();
  void choose(int candidate);

  QCustomPlot *m_ways, *m_objective;
  Descent m_descent;
  DescentBorders m_borders;
  int m_x = 0, m_y = 1, m_chosen = -1;
};

}  // namespace tw::widgets
