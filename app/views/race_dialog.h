// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/services/race_service.h"
#include "widgets/common/dialog.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;

namespace tw::widgets {
class TaskModel;
}

namespace tw::app {

class SelectionHub;
class SessionForm;

/// Which tuners run against each other, on what and for how long.
class RaceDialog : public widgets::Dialog {
  Q_OBJECT
 public:
  /// `options` are those that every session has at first. `tasks` says how many trials of each are recorded in `workspace`.
  RaceDialog(const std::vector<tune::StrategyDef>& tuners, const SelectionHub& hub, const tune::SessionOptions& options, const widgets::TaskModel& tasks,
             std::string workspace, QWidget* parent = nullptr);
  RaceService::Plan plan() const;

 private:
  void showSize();
  /// Trials of the tasks that are to be tuned.
  qint64 recorded() const;
  const SelectionHub& m_hub;
  const widgets::TaskModel& m_tasks;
  std::string m_workspace;
  std::vector<QCheckBox*> m_tuners;
  QComboBox *m_scope, *m_times;
  QSpinBox* m_seeds;
  SessionForm* m_options;
  QLabel* m_size;
  QPushButton* m_start;
};

}  // namespace tw::app
