// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "widgets/charts/session_timeline.h"
#include "widgets/common/tabular.h"

namespace tw::widgets {

/// A session's time in lanes: what it did when, and every candidate's run. Dragging moves, Ctrl and the wheel (or W and S) zoom at the pointer, A and D move, F
/// shows everything; a click or the arrow keys choose a round. What is narrower than a pixel is drawn once for all that fall on it.
class TimelineChart : public QWidget, public Tabular {
  Q_OBJECT
 public:
  explicit TimelineChart(QWidget* parent = nullptr);
  void setTimeline(SessionTimeline timeline);
  const SessionTimeline& timeline() const { return m_timeline; }
  void setRound(int64_t round);
  int64_t round() const { return m_round; }
  /// What lies at a place, in words; empty for nothing.
  QString describeAt(const QPointF& place) const;
  Table table() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void roundActivated(qlonglong round);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QRectF plot() const;
  double laneHeight() const;
  /// Lanes from above; one of which nothing is known has no place.
  std::vector<TimelineLane> lanes() const;
  double laneTop(TimelineLane lane) const;
  double toX(double seconds) const;
  double toSeconds(double x) const;
  void showPart(double from, double length);
  void zoom(double factor, double at);
  int64_t roundAt(const QPointF& place) const;
  SessionTimeline m_timeline;
  double m_from = 0, m_shown = 0;  ///< seconds; 0: everything
  int64_t m_round = 0;
  bool m_dragged = false;
  QPointF m_pressed;
  double m_pressedFrom = 0;
};

}  // namespace tw::widgets
