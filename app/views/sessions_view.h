// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/views/view.h"

class QTreeView;

namespace tw::widgets {
class EmptyState;
class SessionModel;
}  // namespace tw::widgets

namespace tw::app {

/// Sessions of the workspace; choosing one shows its trials, opening its model first if it is not the open one.
class SessionsView : public QWidget {
  Q_OBJECT
 public:
  explicit SessionsView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new SessionsView(services, parent); }

 private:
  void showSessions();
  void showSelection();
  void choose(int row);
  void chooseWanted();
  Services& m_services;
  widgets::SessionModel* m_model;
  QTreeView* m_table;
  widgets::EmptyState* m_state;
  qint64 m_wanted = 0;  ///< session to select once its model is open
  bool m_quiet = false;
};

}  // namespace tw::app
