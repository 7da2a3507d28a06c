// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "app/services/job_board.h"
#include "app/services/model_service.h"
#include "app/services/tune_service.h"

namespace tw::app {

/// Tells the job board of tuning sessions, of models being opened and of workspaces being brought up to date.
class JobFeeds : public QObject {
  Q_OBJECT
 public:
  JobFeeds(JobBoard& board, TuneService& tuning, ModelService& models, Workspace& workspace);

 private:
  void followTuning();
  void followModels(const QString& what);
  void followWorkspace(Workspace& workspace);
  JobBoard& m_board;
  TuneService& m_tuning;
  ModelService& m_models;
  int m_session = 0, m_model = 0, m_upgrade = 0;  ///< jobs of the board, 0 for none
  bool m_isUpgradeStopped = false;
};

}  // namespace tw::app
