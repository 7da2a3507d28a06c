// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/services/explain_service.h"
#include "app/services/task_board.h"
#include "app/services/trial_service.h"
#include "app/views/view.h"

namespace tw::app {

/// A second copy of a view with a selection of its own, which begins as the window's and stays when that goes on.
class PinnedView : public QWidget {
  Q_OBJECT
 public:
  PinnedView(const ViewDef& def, const Services& services, QWidget* parent);
  ~PinnedView() override;
  SelectionHub& hub() { return m_hub; }

 private:
  SelectionHub m_hub;
  TrialService m_trials;
  ExplainService m_explain;
  TaskBoard m_tasks;
  Services m_services;
  QWidget* m_view;
};

}  // namespace tw::app
