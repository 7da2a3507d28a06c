// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/selection_hub.h"
#include "app/services/job_runner.h"
#include "app/services/playback_clock.h"
#include "app/services/tune_service.h"
#include "app/services/workspace.h"

namespace tw::app {

/// The sessions that are put side by side (SelectionHub::comparedSessions), with their trials of the selected task; of those that are played, the trials that there
/// were by the moment of the clock. Read only while somebody looks.
class SessionSet : public QObject {
  Q_OBJECT
 public:
  struct Entry {
    db::SessionRow row;
    widgets::TrialStorePtr store;  ///< null until the first trials were read; empty if the session has none of the task
    bool loading = false;
    std::optional<PlayedTrials> played = {};  ///< what `store` is of, where the session is played
  };

  SessionSet(SelectionHub& hub, Workspace& workspace, TuneService& tuning, QObject* parent);
  /// Starts or stops reading.
  void setActive(bool active);
  const std::vector<Entry>& entries() const { return m_entries; }
  /// The session that is meant where there must be one: the only one that is shown, else that of the selected trial, else the newest of the model.
  static SessionId nearest(const SelectionHub& hub, const Workspace& workspace);
  /// `3 xgb, seed 1`, or the number and the name that somebody gave it: what a session is called beside others; `, replayed` and `, simulated` follow where its times are.
  static QString nameOf(const db::SessionRow& row);

 Q_SIGNALS:
  /// Other sessions, another task, or more trials.
  void changed();
  void failed(const QString& message);

 private:
  void rebuild();
  void readOn(size_t entry);
  void readPlayed(size_t entry);
  void play();

  SelectionHub& m_hub;
  Workspace& m_workspace;
  TuneService& m_tuning;
  std::vector<Entry> m_entries;
  std::vector<JobRunner::Handle> m_jobs;
  int m_generation = 0;  ///< results of earlier selections are dropped
  bool m_active = false;
};

}  // namespace tw::app
