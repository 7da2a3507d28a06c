// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <atomic>
#include <mutex>

#include "app/logs/campaign.h"
#include "app/logs/campaign_plan.h"
#include "app/services/engine.h"
#include "app/services/job_board.h"
#include "app/services/tune_service.h"

namespace tw::app {

/// Campaigns of the open workspace: runs one as a file says, a session for each cell, and says what its trials tell. A session that begins stops it, as they
/// would disturb each other; it goes on where it was.
class CampaignService : public QObject {
  Q_OBJECT
 public:
  CampaignService(Engine& engine, Workspace& workspace, TuneService& tuning, JobBoard& board, QObject* parent = nullptr);

  /// Reads a campaign file; then planRead() or failed().
  void readPlan(const QString& file);
  /// What the file says that was read last, as long as its workspace is open or being opened; null for none.
  const std::shared_ptr<const logs::CampaignPlan>& plan() const { return m_plan; }

  /// Where its trials are stored.
  const QString& planWorkspace() const { return m_planWorkspace; }

  /// Campaigns that have trials in the workspace, oldest first, and the plan's.
  QStringList names() const;
  /// The one that is shown; empty for none.
  const QString& name() const { return m_name; }
  void choose(const QString& name);
  /// Whether somebody looks: what trials tell is worked out only then.
  void setWatched(bool watched);

  /// Why it cannot be run now; empty if it can.
  QString obstacle() const;
  void run();
  void stop();
  bool isRunning() const { return m_runJob != 0; }
  /// It was told to stop and stores what it has.
  bool isStopping() const { return m_stop && m_stop->stop_requested(); }
  bool isAnalysing() const { return m_analysisJob != 0; }
  /// Whether the plan's campaign was begun before: run() goes on with it.
  bool isBegun() const;
  struct Progress {
    int cell = 0, cells = 0;         ///< from 1
    QString title;                   ///< of the cell
    qint64 trials = 0, planned = 0;  ///< of its session; planned 0: not known
    double done = 0;                 ///< of all of it, 0 to 1
    double secondsLeft = -1;         ///< negative while that is not known
  };
  /// Of the campaign that runs.
  const Progress& progress() const { return m_progress; }
  /// What the trials of name() tell; null while that is not known.
  const std::shared_ptr<const logs::Campaign>& campaign() const { return m_campaign; }
  /// Why nothing can be told; empty if it can.
  const QString& problem() const { return m_problem; }
  /// Somebody wants to see a trial.
  void showTrial(const logs::TrialPlace& trial) { Q_EMIT trialAsked(trial); }

 Q_SIGNALS:
  void planRead();
  /// Names, what is shown, what runs.
  void changed();
  void progressed();
  void failed(const QString& message);
  void trialAsked(const tw::logs::TrialPlace& trial);
  /// Somebody wants to see the campaign of a file.
  void fileAsked(const QString& path);

 private:
  /// Written by the thread that runs the campaign.
  struct Feed {
    std::mutex mutex;
    int cell = 0;
    bool isDone = false;  ///< the cell was, before
    qint64 trials = 0, there = 0, planned = 0;
  };
  struct Analysed {
    std::atomic<int> done = 0, of = 0;
  };
  void poll();
  void endRun(JobBoard::Outcome outcome, const QString& text = {});
  void endAnalysis(JobBoard::Outcome outcome, const QString& text = {});
  void lookAgain();
  void analyse();

  Engine& m_engine;
  Workspace& m_workspace;
  TuneService& m_tuning;
  JobBoard& m_board;
  LatestJob m_reading, m_analysing;
  QTimer m_timer;
  std::shared_ptr<Feed> m_feed;
  std::shared_ptr<Analysed> m_analysed;
  std::shared_ptr<StopSource> m_stop;                           ///< of the campaign that runs
  std::shared_ptr<const logs::CampaignPlan> m_plan, m_ranPlan;  ///< the second: that runs or ran last
  QString m_planWorkspace;
  std::shared_ptr<const logs::Campaign> m_campaign;
  QString m_name, m_problem;
  std::pair<QString, qint64> m_told;  ///< name, and trials that it then had, of what was worked out last
  Progress m_progress;
  double m_startedAt = 0, m_doneBefore = -1;  ///< of what was there when the first session began
  int m_runJob = 0, m_analysisJob = 0;
  bool m_watched = false;
};

}  // namespace tw::app
