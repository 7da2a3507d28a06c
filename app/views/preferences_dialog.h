// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/json_fwd.h"
#include "widgets/common/dialog.h"

namespace tw::app {

class ActionRegistry;
class Workspace;

/// What is kept from one start to the next, in one place. Every choice holds at once; those that are no actions' are how networks are made ready.
class PreferencesDialog : public widgets::Dialog {
  Q_OBJECT
 public:
  /// `preparation`: choices of api::preparation_schema().
  PreferencesDialog(const ActionRegistry& actions, const Workspace& workspace, const Json& preparation, QWidget* parent = nullptr);

 Q_SIGNALS:
  void preparationChosen(const Json& choices);
};

}  // namespace tw::app
