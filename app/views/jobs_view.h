// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/views/view.h"

class QToolButton;
class QTreeView;

namespace tw::widgets {
class EmptyState;
}

namespace tw::app {

/// Long work with progress, time left and a way to stop it.
class JobsView : public QWidget {
  Q_OBJECT
 public:
  explicit JobsView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new JobsView(services, parent); }

 private:
  void showState();
  Services& m_services;
  QTreeView* m_table;
  QToolButton* m_cancel;
  widgets::EmptyState* m_state;
};

}  // namespace tw::app
