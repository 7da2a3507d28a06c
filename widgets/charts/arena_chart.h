// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <vector>

#include "widgets/common/tabular.h"

namespace tw::widgets {

/// The plan of a network's memory: over the calls of the network, each intermediate is a box as long as somebody needs it and as high as it is large, at its
/// place in the arena. The dashed line is the most that is needed at one call, which no arena can go below.
class ArenaChart : public QWidget, public Tabular {
  Q_OBJECT
 public:
  struct Buffer {
    QString name;
    qint64 offset = 0, bytes = 0;
    int first = 0, last = 0;  ///< calls: that which writes it first, that which uses it last
  };
  explicit ArenaChart(QWidget* parent = nullptr);
  /// `calls`: names in order.
  void setPlan(std::vector<Buffer> buffers, QStringList calls, qint64 arenaBytes, qint64 liveBytes, qint64 unplannedBytes);
  const std::vector<Buffer>& buffers() const { return m_buffers; }
  int current() const { return m_current; }
  void setCurrent(int buffer);
  /// What one of these calls makes is current, if something is; callChosen() is not told.
  void showCalls(const std::vector<int>& calls);
  /// What a buffer is, who made it, who reads it last, and with whom it shares its place.
  QString describe(int buffer) const;
  QString summary() const;
  Table table() const override;
  QSize sizeHint() const override { return {450, 260}; }

 Q_SIGNALS:
  /// A buffer was chosen by a click or a key; `call` makes it.
  void callChosen(int call);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QRectF plot() const;
  QRectF boxOf(const Buffer& buffer) const;
  int bufferAt(const QPointF& at) const;
  void choose(int buffer);
  std::vector<Buffer> m_buffers;  ///< by first call
  QStringList m_calls;
  qint64 m_arena = 0, m_live = 0, m_unplanned = 0;
  int m_current = -1;
};

}  // namespace tw::widgets
