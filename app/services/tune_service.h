// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>
#include <atomic>
#include <thread>

#include "app/services/engine.h"
#include "app/services/open_model.h"
#include "app/services/session_feed.h"
#include "app/services/workspace.h"
#include "widgets/tuning/trial_store.h"

namespace tw::app {

/// Runs one tuning session at a time on a thread of its own. The thread writes into a bounded SessionFeed; a timer of the GUI thread takes it 30 times a second
/// and reads from the database what did not fit.
class TuneService : public QObject {
  Q_OBJECT
 public:
  enum class State { idle, running, paused, stopping };
  struct Request {
    OpenModelPtr model;
    std::vector<int> tasks;  ///< of the model; empty: all
    tune::SessionOptions options;
    SessionId resumed;   ///< goes on with this session; none: begins a new one
    std::string replay;  ///< a workspace's file whose trials are replayed, see measure/recorded_device.h; empty: candidates are measured
    std::string race = {};  ///< api::TuneRequest::race
    std::string device = {};  ///< as farm::open_device names it; empty: what there is for the target (measure::device_for)
  };
  /// Progress of one task of the session.
  struct TaskProgress {
    int task = -1;  ///< of the model
    widgets::TrialStorePtr store;
    qint64 budget = 0;
    double defaultSeconds = 0, bestSeconds = 0;  ///< 0: not known yet
    QString phase;
    qint64 lastNumber = 0;  ///< of the trials told of; behind it until catching up is done, `store` is short of trials
    qint64 before = 0;      ///< trials that the session had when it went on: the first of `store`
    qint64 failuresBefore = 0;  ///< of those that `store` has
    bool reading = false;
  };

  TuneService(Engine& engine, Workspace& workspace, QObject* parent = nullptr);
  /// Stops the session and waits for it.
  ~TuneService() override;

  void start(const Request& request);
  /// Goes on with a session of the model that was interrupted or cancelled; its trials count.
  void resume(const OpenModelPtr& model, const db::SessionRow& session);
  void setPaused(bool paused);
  void cancel();
  /// Updates come less often while nobody looks.
  void setWatched(bool watched);

  State state() const { return m_state; }
  bool isActive() const { return m_state != State::idle; }
  SessionId session() const { return m_session; }
  /// What the times of the running or the last session are.
  db::TimeKind kind() const { return m_kind; }
  const OpenModelPtr& model() const { return m_model; }
  /// Of the running or the last session; null if the task is not in it.
  const TaskProgress* progress(int modelTask) const;
  int currentTask() const { return m_currentTask; }  ///< of the model, -1 if none
  qint64 trialsDone() const { return m_trialsDone; }  ///< with those from before it went on
  qint64 trialsPlanned() const { return m_trialsPlanned; }
  /// Of work: without pauses and the time between an interruption and going on.
  double elapsedSeconds() const;
  /// Of the trials since it began or went on; 0 before the first.
  double trialsPerSecond() const;
  /// Negative while that is not known.
  double secondsLeft() const;
  /// What measures for the running or the last session, such as devices of a farm; empty: what there is for its target.
  const std::string& device() const { return m_device; }
  /// Whether the last session ended because somebody stopped it.
  bool wasCancelled() const { return m_cancelled; }
  /// Why the last session had nothing left to do before its limits; empty if it reached them.
  const QString& endedBecause() const { return m_endedBecause; }
  /// Of the running or the last session, ascending by number: those that ended since it began or went on.
  const std::vector<records::Round>& rounds() const { return m_rounds; }
  /// Of the running or the last session since it began or went on, pauses (`pause`) among them.
  const std::vector<SessionFeed::Phase>& phases() const { return m_phases; }
  /// What is being built and measured now; its task is the model's.
  const std::optional<SessionFeed::Batch>& batch() const { return m_batch; }
  /// Whether trials are still being read that came faster than they could be shown.
  bool isCatchingUp() const;
  qint64 trialsDropped() const { return m_dropped; }

 Q_SIGNALS:
  void stateChanged();
  void sessionStarted();
  /// New trials or phases; `tasks` of the model have changed.
  void progressed(const std::vector<int>& tasks);
  void roundsEnded();
  void note(const QString& text);
  void finished(const QString& summary);
  void failed(const QString& message);

 private:
  /// `database`: the workspace's as the session began; another may be opened before it stores anything.
  void body(const Request& request, const std::shared_ptr<db::Database>& database, StopToken stop);
  Expected<tune::SessionReport> tuneAll(const Request& request, const std::shared_ptr<db::Database>& database, StopToken stop);
  void drain();
  void apply(const SessionFeed::State& state);
  void noteDone(const tune::TaskDone& done);
  void catchUp(size_t task);
  void end(const Expected<tune::SessionReport>& report);
  void setState(State state);
  void leavePause();
  double secondsSinceStart() const;  ///< since it began or went on, without pauses

  Engine& m_engine;
  Workspace& m_workspace;
  QTimer m_timer;
  std::shared_ptr<SessionFeed> m_feed;
  std::atomic<bool> m_paused = false;
  State m_state = State::idle;
  db::TimeKind m_kind = db::TimeKind::measured;
  OpenModelPtr m_model;
  SessionId m_session;
  std::vector<TaskProgress> m_progress;
  std::vector<records::Round> m_rounds;
  std::vector<SessionFeed::Phase> m_phases;
  std::optional<SessionFeed::Batch> m_batch;
  int m_currentTask = -1;
  QString m_endedBecause;
  qint64 m_trialsDone = 0, m_trialsBefore = 0, m_trialsPlanned = 0, m_dropped = 0;
  double m_startedAt = 0, m_endedAt = 0, m_pausedAt = 0, m_pausedS = 0, m_workedBefore = 0;  ///< m_pausedAt: 0 while it is not paused
  bool m_cancelled = false;
  std::string m_device;
  std::jthread m_thread;  // last: joins before the rest goes
};

}  // namespace tw::app
