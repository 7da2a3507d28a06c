// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/views/view.h"

namespace tw::widgets {
class EmptyState;
class KnobPanel;
}  // namespace tw::widgets

namespace tw::app {

/// The config space of the selected task; every edited point is lowered at once.
class SpaceView : public QWidget {
  Q_OBJECT
 public:
  explicit SpaceView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new SpaceView(services, parent); }

 private:
  void showSpace();
  Services& m_services;
  widgets::KnobPanel* m_panel;
  widgets::EmptyState* m_state;
};

}  // namespace tw::app
