// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "widgets/charts/score_data.h"
#include "widgets/common/tabular.h"

class QCustomPlot;

namespace tw::widgets {

/// What the draft's formula (left) and the model that verifies (right) said of each candidate against how fast it then was. Each side has its own axis: scores of
/// the two have nothing to do with each other. A click chooses a trial.
class ScoreChart : public QWidget, public Tabular {
  Q_OBJECT
 public:
  explicit ScoreChart(QWidget* parent = nullptr);
  /// `flops` of the task; 0: speeds are runs a second.
  void setTrials(std::vector<ScoredTrial> trials, double flops);
  const std::vector<ScoredTrial>& trials() const { return m_trials; }
  bool isEmpty() const { return m_trials.empty(); }
  /// As ScoredTrial::number; -1: none.
  void setSelectedTrial(qint64 number);
  QString summary() const;
  Table table() const override;

 Q_SIGNALS:
  void trialActivated(qint64 number);

 protected:
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void draw();
  void drawSide(QCustomPlot* plot, double ScoredTrial::*score);
  void choose(QCustomPlot* plot, double ScoredTrial::*score, const QPointF& at);
  double speed(const ScoredTrial& t) const { return t.failed || !(t.seconds > 0) ? 0 : m_flops > 0 ? m_flops / t.seconds / 1e9 : 1 / t.seconds; }

  QCustomPlot *m_drafts, *m_scores;
  std::vector<ScoredTrial> m_trials;
  double m_flops = 0;
  qint64 m_selected = -1;
};

}  // namespace tw::widgets
