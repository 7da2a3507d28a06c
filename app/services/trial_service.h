// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/selection_hub.h"
#include "app/services/job_runner.h"
#include "app/services/tune_service.h"
#include "app/services/workspace.h"

namespace tw::app {

/// The trials of the selected task in the selected session: the live ones while they are tuned, else read from the workspace.
class TrialService : public QObject {
  Q_OBJECT
 public:
  TrialService(SelectionHub& hub, JobRunner& jobs, Workspace& workspace, TuneService& tuning, QObject* parent = nullptr);
  /// Null while there is none or nothing was read yet.
  const widgets::TrialStorePtr& store() const { return m_store; }
  bool isLive() const { return m_live; }
  bool isLoading() const { return m_loading; }  ///< more rows are being read

 Q_SIGNALS:
  void storeChanged();  ///< another store, or none
  void storeGrew();     ///< rows were appended
  void failed(const QString& message);

 private:
  void select();
  void load(SessionId session, TaskId task, double flops);
  /// Reads the next page into `store` and goes on until there is none; the store is shown after the first.
  void readOn(SessionId session, TaskId task, const widgets::TrialStorePtr& store);
  void set(widgets::TrialStorePtr store, bool live, bool loading);
  SelectionHub& m_hub;
  JobRunner& m_jobs;
  Workspace& m_workspace;
  TuneService& m_tuning;
  LatestJob m_job;
  widgets::TrialStorePtr m_store;
  bool m_live = false, m_loading = false;
};

}  // namespace tw::app
