// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/selection_hub.h"
#include "app/services/job_runner.h"
#include "app/services/playback_clock.h"
#include "app/services/tune_service.h"
#include "app/services/workspace.h"

namespace tw::app {

/// The trials of the selected task: those of the one session that is shown, live while it is tuned, else those of all sessions whose times are of the kind that
/// stands for the task (db::TaskRow::kind). Of a session that is played, those that there were by the moment of the clock.
class TrialService : public QObject {
  Q_OBJECT
 public:
  TrialService(SelectionHub& hub, JobRunner& jobs, Workspace& workspace, TuneService& tuning, QObject* parent = nullptr);
  /// Null while there is none or nothing was read yet.
  const widgets::TrialStorePtr& store() const { return m_store; }
  bool isLive() const { return m_live; }
  bool isLoading() const { return m_loading; }  ///< more rows are being read
  /// What the times of the shown trials are.
  db::TimeKind kind() const { return m_kind; }
  /// The selected trial as the store numbers it, -1 if it is none of these.
  qint64 selected() const { return m_selected; }
  /// Selects a trial by the store's number, -1 for none.
  void choose(qint64 number);
  /// Selects what `trial.best` goes to: the fastest of what is shown.
  /// And once more when all trials are read, unless something else was chosen meanwhile.
  void chooseBest();

 Q_SIGNALS:
  void storeChanged();  ///< another store, or none
  void storeGrew();     ///< rows were appended, or finals changed times
  void selectionChanged();
  void failed(const QString& message);

 private:
  struct Page {
    db::TimeKind kind = db::TimeKind::measured;
    std::vector<db::TrialOutcome> rows;
  };
  void select();
  /// Reads the next page into `store` and goes on until there is none; the store is shown after the first.
  void readOn(const widgets::TrialStorePtr& store);
  /// Reads a session that is played whole, and shows of it what the clock says.
  void readPlayed(SessionId session);
  void play();
  /// Reads what was stored meanwhile, where trials of all sessions are shown.
  void catchUp();
  void set(widgets::TrialStorePtr store, bool live, bool loading);
  void noteSelection(bool otherStore = false);
  TaskId task() const;
  SelectionHub& m_hub;
  JobRunner& m_jobs;
  Workspace& m_workspace;
  TuneService& m_tuning;
  LatestJob m_job;
  widgets::TrialStorePtr m_store;
  std::optional<PlayedTrials> m_played;
  db::TimeKind m_kind = db::TimeKind::measured;
  TaskId m_storeTask;
  qint64 m_selected = -1;
  bool m_live = false, m_loading = false, m_again = false;
  bool m_wantsBest = false;  ///< as soon as all are read
};

}  // namespace tw::app
