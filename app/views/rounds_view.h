// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include "app/views/view.h"
#include "widgets/charts/round_terms.h"

class QComboBox;
class QLabel;

namespace tw::widgets {
class EmptyState;
class RoundChart;
}  // namespace tw::widgets

namespace tw::app {

class RoundSet;

/// What stands behind each round of the selected session: what the scheduler expected of every task, and how the strategy bred the candidates.
class RoundsView : public QWidget {
  Q_OBJECT
 public:
  explicit RoundsView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new RoundsView(services, parent); }

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void showRounds();
  void showState(bool rounds, widgets::RoundTerms terms);

  Services& m_services;
  RoundSet* m_set;
  widgets::RoundChart* m_chart;
  widgets::EmptyState* m_state;
  QComboBox* m_terms;
  QLabel* m_summary;
  QTimer m_growth;
};

}  // namespace tw::app
