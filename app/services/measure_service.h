// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/selection_hub.h"
#include "app/services/engine.h"
#include "app/services/explain_service.h"
#include "app/services/job_board.h"
#include "app/services/tune_service.h"
#include "app/services/workspace.h"

namespace tw::app {

/// A candidate that was measured, as a trial of the workspace.
struct StoredTrial {
  TrialRef trial;
  records::Status status = records::Status::ok;
  QString message;  ///< of a failure
  double seconds = 0;
};
/// Why the shown candidate cannot be measured now; empty if it can.
QString measuringObstacle(const SelectionHub& hub, const Workspace& workspace, const TuneService& tuning, const ExplainService& explain);
/// Builds and times a candidate and stores it as a trial of `session`. A session measures a point once: if that one has it, or is none, the trial is the first
/// of a new session of `tuner`. Threads: any but that of the window.
Expected<StoredTrial> measureAndStore(Engine& engine, db::Database& database, const OpenModel& model, int task, const records::Candidate& candidate,
                                      SessionId session, const std::string& tuner, const StopToken& stop);

/// Builds and times the candidate that is shown, and keeps it as a trial of a session `by hand`.
class MeasureService : public QObject {
  Q_OBJECT
 public:
  MeasureService(Engine& engine, SelectionHub& hub, Workspace& workspace, TuneService& tuning, ExplainService& explain, JobBoard& board, QObject* parent);
  /// Why nothing can be measured now; empty if the candidate that is shown can.
  QString obstacle() const;
  void measure();
  bool isBusy() const { return m_busy; }

 Q_SIGNALS:
  /// The obstacle may be another one.
  void changed();
  void failed(const QString& message);

 private:
  Engine& m_engine;
  SelectionHub& m_hub;
  Workspace& m_workspace;
  TuneService& m_tuning;
  ExplainService& m_explain;
  JobBoard& m_board;
  LatestJob m_job;
  SessionId m_session;  ///< by hand, of the model and the target below
  std::pair<ModelId, std::string> m_sessionOf;
  bool m_busy = false;
};

}  // namespace tw::app
