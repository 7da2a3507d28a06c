// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include "app/services/race_service.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;

namespace tw::app {

class SelectionHub;

/// Which tuners run against each other, on what and for how long.
class RaceDialog : public QDialog {
  Q_OBJECT
 public:
  /// `options` are those of every session but for tuner and seed.
  RaceDialog(const std::vector<tune::StrategyDef>& tuners, const SelectionHub& hub, const tune::SessionOptions& options, QWidget* parent = nullptr);
  RaceService::Plan plan() const;

 private:
  void showSize();
  const SelectionHub& m_hub;
  tune::SessionOptions m_options;
  std::vector<QCheckBox*> m_tuners;
  QComboBox* m_scope;
  QSpinBox *m_seeds, *m_trials;
  QLabel* m_size;
  QPushButton* m_start;
};

}  // namespace tw::app
