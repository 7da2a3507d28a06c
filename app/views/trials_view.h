// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/services/job_runner.h"
#include "app/views/view.h"

class QLabel;
class QLineEdit;
class QTreeView;

namespace tw::widgets {
class EmptyState;
class ErrorLabel;
class SideBySideModel;
class TrialModel;
}  // namespace tw::widgets

namespace tw::app {

/// All trials of the selected task and session with a filter line, and below them those put side by side. Selecting one shows its code.
class TrialsView : public QWidget {
  Q_OBJECT
 public:
  explicit TrialsView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new TrialsView(services, parent); }
  void step(int rows);
  void goToBest();
  /// Puts the selected trial into the tray or takes it out.
  void toggleTray();

 private:
  QWidget* makeBar();
  QWidget* makeTray();
  void showStore();
  void showTimes();
  void showState();
  void showSelection();
  void showFilter();
  void showTray();
  Services& m_services;
  widgets::TrialModel* m_model;
  widgets::SideBySideModel* m_tray;
  QTreeView *m_table, *m_trayTable = nullptr;
  QLineEdit* m_filter = nullptr;
  QWidget* m_trayPanel = nullptr;
  widgets::EmptyState* m_state;
  QLabel* m_count = nullptr;
  widgets::ErrorLabel* m_problem = nullptr;
  LatestJob m_trayJob;
  bool m_quiet = false;
  uint32_t m_layouts = 0;  ///< TrialColumns::layoutCount() when the filter was read
};

}  // namespace tw::app
