// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <vector>

#include "widgets/common/tabular.h"

namespace tw::widgets {

/// A pipeline of passes from left to right: the wider the longer a pass took, the higher its bar the more lines it changed, with a sign for whether it changed
/// any. A click or the arrow keys choose a pass, with Shift a range.
class PassStrip : public QWidget, public Tabular {
  Q_OBJECT
 public:
  /// What leaving a pass out costs; empty texts while that is not known.
  struct Cost {
    QString ratio = {};     ///< such as `▲1.43×`
    QString interval = {};  ///< such as `1.40–1.46`
    QString help = {};      ///< a sentence
  };
  struct Pass {
    QString name;
    double seconds = 0;
    bool changed = false;
    int added = 0, removed = 0;  ///< lines
    QString needed = {};         ///< why it cannot be left out; empty if it can
    Cost cost = {};
  };
  explicit PassStrip(QWidget* parent = nullptr);
  /// The first one is what the passes begin with.
  void setPasses(std::vector<Pass> passes);
  /// With lower bars, where there is little height.
  void setLow(bool low);
  /// Other costs of the same passes; what is chosen stays.
  void setCosts(const std::vector<Cost>& costs);
  const std::vector<Pass>& passes() const { return m_passes; }
  /// Chooses passes `first` to `last`; does not signal.
  void select(int first, int last);
  int first() const { return m_first; }
  int last() const { return m_last; }
  /// Marks the pass after which another pipeline's text differs in structure; -1: none.
  void setDivergence(int pass);
  QString summary() const;
  Table table() const override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

 Q_SIGNALS:
  void selected(int first, int last);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  std::vector<double> borders() const;
  int passAt(double x) const;
  void choose(int pass, bool extend);
  QString describe(int pass) const;

  std::vector<Pass> m_passes;
  int m_barRoom;  ///< height of the highest bar
  int m_first = -1, m_last = -1, m_anchor = -1, m_divergence = -1;
};

}  // namespace tw::widgets
