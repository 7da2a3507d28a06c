// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <map>
#include <vector>

#include "widgets/common/tabular.h"

namespace tw::widgets {

/// What one run of each loop of a nest touches, as bars on a logarithmic scale against the sizes of registers and caches; colours tell the arrays apart.
class FootprintChart : public QWidget, public Tabular {
  Q_OBJECT
 public:
  struct Loop {
    QString name;  ///< with what kind of loop it is
    double bytes = 0;
    std::map<QString, double> arrays;
  };
  struct Capacity {
    QString name;
    double bytes = 0;
  };
  explicit FootprintChart(QWidget* parent = nullptr);
  void setLoops(std::vector<Loop> loops, std::vector<Capacity> capacities);
  QString summary() const;
  Table table() const override;
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<Loop> m_loops;
  std::vector<Capacity> m_capacities;
  QStringList m_arrays;
};

}  // namespace tw::widgets
