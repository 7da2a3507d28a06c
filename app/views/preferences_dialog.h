// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

namespace tw::app {

class ActionRegistry;
class Workspace;

/// What is kept from one start to the next, in one place. Every choice is that of an action and holds at once.
class PreferencesDialog : public QDialog {
  Q_OBJECT
 public:
  PreferencesDialog(const ActionRegistry& actions, const Workspace& workspace, QWidget* parent = nullptr);
};

}  // namespace tw::app
