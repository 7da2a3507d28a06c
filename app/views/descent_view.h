// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>
#include <memory>

#include "app/views/view.h"
#include "widgets/charts/descent_data.h"

class QComboBox;
class QLabel;
class QSplitter;
class QStandardItemModel;
class QToolButton;
class QTreeView;

namespace tw::tune {
struct DescentSketch;
}

namespace tw::widgets {
class DescentChart;
class EmptyState;
}  // namespace tw::widgets

namespace tw::app {

class RoundSet;

/// What the model sees of a point, one feature of a stage: as a formula, with its value and its derivatives by the two variables that are shown.
struct DescentFormula {
  QString store, name, text;
  double value = 0, byX = 0, byY = 0;
};

/// How the tuner felix went downhill in a round of the selected task: ways, limits and what was chosen on any two variables, the objective over steps, and behind
/// them the formulas of what the model sees, with values and derivatives at the chosen point. A chosen point selects its trial.
class DescentView : public QWidget {
  Q_OBJECT
 public:
  explicit DescentView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new DescentView(services, parent); }

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void listRounds();
  void readRound();
  void showSketch();
  void showAxes();
  void showState();
  /// Works out, once a sketch, what its formulas are; then showExplained(). Neither on this thread.
  void explain();
  /// Where limits lie on the axes, and the formulas at the chosen point.
  void showExplained();
  void showFormulas(const std::vector<DescentFormula>& rows);
  void selectTrial(int candidate);

  Services& m_services;
  RoundSet* m_set;
  widgets::DescentChart* m_chart;
  widgets::EmptyState* m_state;
  QLabel* m_summary;
  QComboBox *m_round, *m_sketch, *m_x, *m_y;
  QToolButton* m_formulas;
  QStandardItemModel* m_features;
  QTreeView* m_table;
  QTimer m_growth;
  std::vector<records::Round> m_rounds;  ///< of the task, that tell of a descent
  std::vector<widgets::Descent> m_descents;
  std::string m_task;
  std::shared_ptr<const tune::DescentSketch> m_explained;
  int m_generation = 0;     ///< answers to earlier questions are dropped
  QString m_explainedName;  ///< task and sketch that m_explained is of, or is being worked out of
};

}  // namespace tw::app
