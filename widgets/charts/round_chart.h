// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "widgets/charts/round_terms.h"
#include "widgets/common/tabular.h"

class QCustomPlot;
class QCPAbstractPlottable;

namespace tw::widgets {

/// What rounds say of themselves as bars that stand on each other: the scheduler's terms by task, a strategy's population by generation, mutation or origin; or as curves: fits of the
/// model, how well scores order what was measured. A round is chosen with the mouse or the arrow keys, and what it says is told in words.
class RoundChart : public QWidget, public Tabular {
  Q_OBJECT
 public:
  explicit RoundChart(QWidget* parent = nullptr);
  /// `names`: how people call the series, by their keys; others are shown as they are.
  void setStack(RoundTerms terms, RoundStack stack, std::map<std::string, QString> names);
  const RoundStack& stack() const { return m_stack; }
  bool isEmpty() const { return m_stack.columns.empty(); }
  /// 0: none.
  void setSelectedRound(int64_t number);
  /// What the chosen round says; of all of them where none is chosen.
  QString summary() const;
  Table table() const override;

 Q_SIGNALS:
  void roundActivated(qint64 number);

 protected:
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void draw();
  void drawBars();
  void drawCurves();
  void wrapLegend();
  double scale() const { return m_terms == RoundTerms::gains ? 1e3 : 1; }
  QString name(size_t series) const;
  QString amount(double value) const;
  QString sentence(const RoundColumn& column) const;
  int columnAt(double x) const;

  QCustomPlot* m_plot;
  RoundTerms m_terms = RoundTerms::gains;
  RoundStack m_stack;
  std::map<std::string, QString> m_names;
  std::vector<QCPAbstractPlottable*> m_bars;  ///< of the legend; curves too
  int64_t m_round = 0;
};

}  // namespace tw::widgets
