// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

namespace tw::app {

class ActionRegistry;

/// All actions with their shortcuts and, while they cannot be used, the reason; grouped as in the menus.
class ShortcutsSheet : public QDialog {
  Q_OBJECT
 public:
  explicit ShortcutsSheet(const ActionRegistry& actions, QWidget* parent = nullptr);
};

}  // namespace tw::app
