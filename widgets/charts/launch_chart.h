// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <vector>

#include "widgets/charts/why_rules.h"
#include "widgets/common/tabular.h"

namespace tw::widgets {

/// Where the simulated time of a kernel's launches on a GPU goes: a bar for every part as if nothing else took any time, and the part of a multiprocessor's warps
/// that are in use.
class LaunchChart : public QWidget, public Tabular {
  Q_OBJECT
 public:
  explicit LaunchChart(QWidget* parent = nullptr);
  void setLaunches(std::vector<WhyLaunch> launches);
  QString summary() const;
  Table table() const override;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  int lineHeight() const { return fontMetrics().height() + 6; }
  std::vector<WhyLaunch> m_launches;
};

}  // namespace tw::widgets
