// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "widgets/common/tabular.h"

namespace tw::widgets {

/// How much of the spread of times each knob explains by itself: bars, the longest first, with the formula below.
class ImportanceView : public QWidget, public Tabular {
  Q_OBJECT
 public:
  explicit ImportanceView(QWidget* parent = nullptr);
  void setShares(std::vector<std::pair<QString, double>> shares);
  QString summary() const;
  Table table() const override;
  QSize sizeHint() const override { return {360, 40 + 24 * static_cast<int>(m_shares.size())}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<std::pair<QString, double>> m_shares;
};

}  // namespace tw::widgets
