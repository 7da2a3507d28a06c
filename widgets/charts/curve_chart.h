// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "widgets/charts/curve_data.h"

class QCustomPlot;
class QCPGraph;
class QCPAxisRect;

namespace tw::widgets {

/// The tuning curve of one task: trials as points, the best so far as steps, failures by kind in a strip below. Reads a TrialStore; never blocks on it.
class CurveChart : public QWidget {
  Q_OBJECT
 public:
  explicit CurveChart(QWidget* parent = nullptr);
  void setStore(TrialStorePtr store);
  /// Time of the default schedule in seconds, for the reference line; 0 or infinity hides it.
  void setDefaultSeconds(double seconds);
  void setUnit(CurveUnit unit);
  CurveUnit unit() const { return m_unit; }
  void setSelectedTrial(qint64 number);
  /// Draws what was appended since the last call.
  void refresh();
  const CurveData& data() const { return m_data; }
  /// What the chart shows, in one sentence.
  QString summary() const;

 Q_SIGNALS:
  void trialActivated(qint64 number);

 protected:
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void buildPlot();
  void restyle();
  void rescale();
  void showFailures();
  void showSelection();
  int rowNear(const QPointF& pixel) const;
  QString describeRow(int row) const;
  void hover(const QPoint& pixel);

  QCustomPlot* m_plot;
  QCPAxisRect* m_strip = nullptr;
  QCPGraph *m_trials = nullptr, *m_best = nullptr, *m_failures = nullptr, *m_selected = nullptr, *m_selectedFailure = nullptr, *m_default = nullptr;
  TrialStorePtr m_store;
  CurveData m_data;
  CurveUnit m_unit = CurveUnit::gflops;
  double m_defaultSeconds = 0;
  qint64 m_selectedNumber = -1;
  int m_shown = -1;
  bool m_userZoomed = false;
};

}  // namespace tw::widgets
