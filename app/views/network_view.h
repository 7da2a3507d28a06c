// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include "app/services/job_runner.h"
#include "app/services/round_set.h"
#include "app/views/view.h"

class QBoxLayout;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QSplitter;
class QTreeView;

namespace tw::widgets {
class EmptyState;
class NetworkChart;
class RoundModel;
}  // namespace tw::widgets

namespace tw::app {

/// How fast the network is by now: its estimated time after every round of the selected session, with the sessions put side by side over it and a target; beside
/// it the scheduler's decisions.
class NetworkView : public QWidget {
  Q_OBJECT
 public:
  explicit NetworkView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new NetworkView(services, parent); }

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeBar();
  void showPage();
  void readMeasured();
  void showRounds();
  void showState();
  /// What the session's tasks take by default, 0 while that is not known.
  double byDefault(const RoundSet::Entry& entry) const;
  void choose(qint64 round);
  Services& m_services;
  widgets::NetworkChart* m_chart;
  widgets::RoundModel* m_model;
  QTreeView* m_table;
  QSplitter* m_split = nullptr;
  bool m_both = false;  ///< chart and table have room beside each other
  widgets::EmptyState* m_state;
  RoundSet* m_set;
  QComboBox *m_page = nullptr, *m_x = nullptr;
  QDoubleSpinBox* m_target = nullptr;
  QLabel* m_summary = nullptr;
  QBoxLayout* m_bar = nullptr;
  QTimer m_growth;
  LatestJob m_measuredJob;
};

}  // namespace tw::app
