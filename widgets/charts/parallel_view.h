// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QWidget>
#include <map>
#include <stop_token>

#include "widgets/charts/landscape_data.h"
#include "widgets/common/tabular.h"

namespace tw::widgets {

/// One axis of parallel coordinates: the distinct values of a knob in order, or the time on a logarithmic scale.
struct ParallelAxis {
  QString name;
  int knob = -1;                ///< -1: the time
  bool numeric = true;          ///< values are numbers, and stand for themselves in a filter
  std::vector<QString> labels;  ///< of a knob, from bottom to top
  std::vector<double> values;   ///< the same as numbers, ascending, if numeric
  std::vector<int> rankOf;      ///< by position of the knob
  double low = 0, high = 1;     ///< of the time, in milliseconds
};
/// Knobs with more than one value, then the time.
std::vector<ParallelAxis> parallelAxes(const PointSet& points);
/// Place of a point on an axis, 0 to 1 from bottom to top; not a number for a failure's time.
double parallelPlace(const PointSet& points, size_t point, const ParallelAxis& axis);

/// Lines of all points as a picture: kept ones over the others, fast ones over slow ones. Opaque pixels only, so that 100,000 lines stay fast.
/// `x` holds the axes' columns, `top` and `bottom` their ends; all in pixels of the picture.
QImage parallelRaster(const PointSet& points, const std::vector<ParallelAxis>& axes, const std::vector<char>& kept, QSize size, const std::vector<int>& x,
                      int top, int bottom, QRgb background, QRgb faint, QRgb failed, const std::stop_token& stop);

/// Parallel coordinates of the trials of a space. Dragging along an axis keeps a part of it; a click on the axis takes that back.
class ParallelView : public QWidget, public Tabular {
  Q_OBJECT
 public:
  explicit ParallelView(QWidget* parent = nullptr);
  ~ParallelView() override;
  /// `kept`: by point, whether the filter keeps it; empty if there is no filter.
  void setData(std::shared_ptr<const PointSet> points, std::vector<char> kept);
  /// Forgets the parts kept by dragging, as when the filter was changed elsewhere.
  void clearBrushes();
  void setSelectedTrial(qint64 number);
  QString summary() const;
  Table table() const override;
  QSize sizeHint() const override { return {520, 260}; }
  bool isDrawing() const { return m_drawing; }

 Q_SIGNALS:
  /// The filter that keeps what all brushes keep; empty if there are none.
  void brushed(const QString& filter);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  double axisX(size_t axis) const;
  double top() const;
  double bottom() const;
  double placeOf(double y) const;
  int axisNear(double x) const;
  QString filterOf(size_t axis, double low, double high) const;
  void emitFilter();
  void draw();

  std::shared_ptr<const PointSet> m_points;
  std::vector<ParallelAxis> m_axes;
  std::vector<char> m_kept;
  std::map<size_t, std::pair<double, double>> m_brushes;  ///< by axis, places from low to high
  int m_current = 0, m_dragged = -1;
  double m_from = 0, m_to = 0;
  qint64 m_selected = -1;
  QImage m_image;
  std::stop_source m_stop;
  bool m_drawing = false;
};

}  // namespace tw::widgets
