// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "engine/space/config_space.h"

namespace tw::widgets {

/// The candidates of a split with three or more factors: the innermost factor across, the one around it down; a dot where the extent can be split so,
/// larger where several candidates share both factors. A click chooses the next of them.
class LatticeView : public QWidget {
  Q_OBJECT
 public:
  explicit LatticeView(const space::Knob& knob, QWidget* parent = nullptr);
  void setPosition(int position);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {60, 40}; }

 Q_SIGNALS:
  void chosen(int position);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QPointF dotAt(int column, int row) const;
  std::pair<int, int> cellOf(int position) const;
  void choose(int column, int row);
  space::Knob m_knob;
  std::vector<int64_t> m_inner, m_outer;  ///< distinct factors, ascending
  int m_position = -1;
};

}  // namespace tw::widgets
