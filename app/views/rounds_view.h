// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include "app/views/view.h"
#include "widgets/charts/round_terms.h"

class QComboBox;
class QLabel;
class QStackedWidget;
class QTreeView;

namespace tw::widgets {
class EmptyState;
class RoundChart;
class ScoreChart;
class ScoreModel;
}  // namespace tw::widgets

namespace tw::app {

class RoundSet;

/// What stands behind each round of the selected session: what the scheduler expected of every task, how the strategy bred the candidates, and what drafts and
/// model said of each of them beside what it then took.
class RoundsView : public QWidget {
  Q_OBJECT
 public:
  explicit RoundsView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new RoundsView(services, parent); }

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  QWidget* makeScores();
  void showRounds();
  void showScores();
  void showTrial();
  void showState(bool rounds, widgets::RoundTerms terms);

  Services& m_services;
  RoundSet* m_set;
  QStackedWidget* m_pages;
  widgets::RoundChart* m_chart;
  widgets::ScoreChart* m_scores;
  widgets::ScoreModel* m_scoreModel;
  QTreeView* m_scoreTable = nullptr;
  widgets::EmptyState* m_state;
  QComboBox* m_terms;
  QLabel* m_summary;
  QTimer m_growth;
  bool m_quiet = false;  ///< the table follows the selection
};

}  // namespace tw::app
