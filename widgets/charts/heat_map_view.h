// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "widgets/charts/landscape_data.h"
#include "widgets/common/tabular.h"

namespace tw::widgets {

/// Two knobs against each other: a cell has the colour of its best time, a cross if all of its trials failed, hatching if nobody tried it, and a bar if a
/// filter of the space refuses it. Cells are chosen with the mouse or the arrow keys.
class HeatMapView : public QWidget, public Tabular {
  Q_OBJECT
 public:
  explicit HeatMapView(QWidget* parent = nullptr);
  void setMap(const HeatMap& map, const std::shared_ptr<const space::ConfigSpace>& space);
  const HeatMap& map() const { return m_map; }
  /// Marks the cell of a point; -1 for none.
  void setIndex(qint64 index);
  QString summary() const;
  Table table() const override;
  QSize sizeHint() const override { return {420, 300}; }

 Q_SIGNALS:
  /// A cell with trials: its best one, or the last that failed.
  void trialActivated(qint64 number);
  /// A cell without trials: the point it stands for.
  void pointActivated(qint64 index);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QRectF area() const;
  QRectF cellRect(int column, int row) const;
  QPoint cellAt(const QPointF& pixel) const;  ///< (-1, -1) outside
  QString columnText(int column) const;
  QString rowText(int row) const;
  QString cellText(int column, int row) const;
  void activate(int column, int row);
  void paintCell(QPainter& p, int column, int row) const;
  void paintAxes(QPainter& p) const;

  HeatMap m_map;
  std::shared_ptr<const space::ConfigSpace> m_space;
  double m_best = 0, m_worst = 0;
  int m_column = -1, m_row = -1;
};

}  // namespace tw::widgets
