// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/views/view.h"

class QSortFilterProxyModel;
class QTreeView;

namespace tw::widgets {
class EmptyState;
}

namespace tw::app {

/// The table of tuning tasks; selecting a row selects the task.
class TasksView : public QWidget {
  Q_OBJECT
 public:
  explicit TasksView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new TasksView(services, parent); }
  /// Those that gained most in the network first, with the first of them selected.
  void showGains();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  /// Fewer columns where there is little room, until somebody chooses columns.
  void fitColumns();
  void showSelection();
  void showState();
  Services& m_services;
  QTreeView* m_table;
  bool m_ownColumns = false;
  QSortFilterProxyModel* m_sorted;
  widgets::EmptyState* m_state;
};

}  // namespace tw::app
