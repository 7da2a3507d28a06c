// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/views/view.h"

namespace tw::widgets {
class CodeView;
class EmptyState;
}  // namespace tw::widgets

namespace tw::app {

/// Listings of the selected candidate, with what belongs to the selected place or else to the selected node of the graph.
class CodeDock : public QWidget {
  Q_OBJECT
 public:
  explicit CodeDock(Services& services, QWidget* parent = nullptr);
  ~CodeDock() override;
  static QWidget* create(Services& services, QWidget* parent) { return new CodeDock(services, parent); }
  widgets::CodeView* code() { return m_code; }

 private:
  void showSelection();
  Services& m_services;
  widgets::CodeView* m_code;
  widgets::EmptyState* m_state;
};

}  // namespace tw::app
