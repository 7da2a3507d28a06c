// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "db/database.h"
#include "widgets/common/tabular.h"

class QCustomPlot;
class QCPBars;

namespace tw::widgets {

/// How many trials a second a session made and for which task, in equal slices of its time: stacked bars, one colour a task.
class ActivityChart : public QWidget, public Tabular {
  Q_OBJECT
 public:
  explicit ActivityChart(QWidget* parent = nullptr);
  /// `names` of the tasks by id; tasks without one are shown as others.
  void setActivity(const db::Activity& activity, const std::vector<std::pair<int64_t, QString>>& names);
  bool isEmpty() const { return m_activity.rows.empty(); }
  QString summary() const;
  Table table() const override;

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void draw();
  QString nameOf(int64_t task) const;
  QCustomPlot* m_plot;
  db::Activity m_activity;
  std::vector<std::pair<int64_t, QString>> m_names;
};

}  // namespace tw::widgets
