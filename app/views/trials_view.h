// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/views/view.h"

class QTreeView;
class QLabel;

namespace tw::widgets {
class EmptyState;
class TrialFilter;
class TrialModel;
}  // namespace tw::widgets

namespace tw::app {

/// All trials of the selected task and session; selecting one shows its code.
class TrialsView : public QWidget {
  Q_OBJECT
 public:
  explicit TrialsView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new TrialsView(services, parent); }
  void step(int rows);
  void goToBest();

 private:
  void showStore();
  void showState();
  void showSelection();
  Services& m_services;
  widgets::TrialModel* m_model;
  widgets::TrialFilter* m_filter;
  QTreeView* m_table;
  widgets::EmptyState* m_state;
  QLabel* m_count;
};

}  // namespace tw::app
