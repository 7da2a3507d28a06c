// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "widgets/charts/prediction_data.h"
#include "widgets/common/tabular.h"

class QCPGraph;
class QCustomPlot;

namespace tw::widgets {

/// How well a tuner's cost models know what is fast: on the left the trials that one model chose, what it said against what was measured; on the right how good
/// the order of that space's models was as they learned from more trials. A click on the right chooses the model, on the left a trial.
class PredictionChart : public QWidget, public Tabular {
  Q_OBJECT
 public:
  explicit PredictionChart(QWidget* parent = nullptr);
  /// `names` of the spaces by PredictionRound::space.
  void setRounds(std::vector<PredictionRound> rounds, const std::map<uint32_t, QString>& names, double flops);
  bool isEmpty() const { return m_rounds.empty(); }
  const std::vector<PredictionRound>& rounds() const { return m_rounds; }
  /// Which round the left side shows; follows the newest until one is chosen.
  void chooseRound(int round);
  int round() const { return m_round; }
  void setSelectedTrial(qint64 number);
  QString summary() const;
  Table table() const override;

 Q_SIGNALS:
  void trialActivated(qint64 number);
  void roundChosen(int round);

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void draw();
  void drawScatter();
  void drawQuality();
  double speed(const PredictionRound::Point& point) const;
  QString nameOf(const PredictionRound& round) const;

  QCustomPlot *m_scatter, *m_quality;
  std::vector<PredictionRound> m_rounds;
  std::map<uint32_t, QString> m_names;
  double m_flops = 0;
  int m_round = -1;
  bool m_chosen = false;
  qint64 m_trial = -1;
};

}  // namespace tw::widgets
