// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "widgets/common/tabular.h"

namespace tw::widgets {

/// How much of the spread of times each knob explains by itself: bars, the longest first, with what a share is below.
class ImportanceView : public QWidget, public Tabular {
  Q_OBJECT
 public:
  explicit ImportanceView(QWidget* parent = nullptr);
  void setShares(std::vector<std::pair<QString, double>> shares);
  /// Shares with the interval that each lies in, and what a share is, in place of the formula.
  struct Share {
    QString name;
    double share = 0, low = 0, high = 0;
  };
  void setShares(const std::vector<Share>& shares, const QString& note);
  QString summary() const;
  Table table() const override;
  QSize sizeHint() const override { return {360, 40 + 24 * static_cast<int>(m_shares.size())}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<Share> m_shares;
  QString m_note;
  bool m_hasIntervals = false;
};

}  // namespace tw::widgets
