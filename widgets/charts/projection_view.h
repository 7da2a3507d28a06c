// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QWidget>

#include "widgets/charts/landscape_data.h"
#include "widgets/common/tabular.h"

namespace tw::widgets {

/// The trials of a space in the plane of their two strongest principal components: fast ones yellow and on top, failures as crosses, the newest 200 with a rim.
class ProjectionView : public QWidget, public Tabular {
  Q_OBJECT
 public:
  explicit ProjectionView(QWidget* parent = nullptr);
  void setData(std::shared_ptr<const PointSet> points, std::shared_ptr<const Projection> projection);
  void setSelectedTrial(qint64 number);
  QString summary() const;
  Table table() const override;
  QSize sizeHint() const override { return {420, 300}; }

 Q_SIGNALS:
  void trialActivated(qint64 number);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QRectF area() const;
  QPointF pixelOf(size_t point) const;
  int pointNear(const QPointF& pixel) const;
  QString axisText(int axis) const;
  void rasterize();

  std::shared_ptr<const PointSet> m_points;
  std::shared_ptr<const Projection> m_projection;
  float m_left = 0, m_right = 1, m_low = 0, m_high = 1;
  float m_best = 0, m_worst = 0;
  qint64 m_selected = -1;
  QImage m_image;  ///< the points, null until painted
};

}  // namespace tw::widgets
