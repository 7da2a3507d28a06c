// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/dialog.h"

namespace tw::app {

class ActionRegistry;

/// All actions with their shortcuts and, while they cannot be used, the reason; grouped as in the menus.
class ShortcutsSheet : public widgets::Dialog {
  Q_OBJECT
 public:
  explicit ShortcutsSheet(const ActionRegistry& actions, QWidget* parent = nullptr);
};

}  // namespace tw::app
