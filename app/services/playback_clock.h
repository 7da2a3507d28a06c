// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <vector>

#include "db/database.h"
#include "engine/records/round.h"
#include "widgets/tuning/trial_store.h"

namespace tw::app {

/// When a trial of a session ended: after how much of the session's time, pauses and interruptions left out, and by the clock on the wall (Unix time).
struct SessionMoment {
  double elapsed_s = 0, timestamp_s = 0;
};

/// The moments of a session from the ends of its trials, of all tasks, and its rounds, which know how long the session had worked by then. Without rounds a gap
/// of over a minute counts as one. Ascending in both.
std::vector<SessionMoment> sessionMoments(std::vector<double> timestamps, const std::vector<records::Round>& rounds);

/// Stored sessions played on their time axis: the one place that knows which moment is shown. Whoever holds trials or rounds of a session asks it how much of
/// them there is by now, so that all views stand at the same moment. Several sessions begin together.
class PlaybackClock : public QObject {
  Q_OBJECT
 public:
  struct Session {
    SessionId id;
    std::vector<SessionMoment> moments;
  };
  static constexpr double kSlowest = 1, kFastest = 1000;

  explicit PlaybackClock(QObject* parent = nullptr);
  /// Puts sessions under the clock, at their beginning, standing. Those without a moment are left out.
  void open(std::vector<Session> sessions);
  /// Everything is shown whole again.
  void close() { open({}); }
  bool isOpen() const { return !m_sessions.empty(); }
  const std::vector<Session>& sessions() const { return m_sessions; }
  bool plays(SessionId session) const { return find(session) != nullptr; }

  /// Seconds since the sessions began, and those of the longest.
  double at() const { return m_at; }
  double length() const { return m_length; }
  bool isAtEnd() const { return m_at >= m_length; }
  void setAt(double seconds);
  /// To the next moment of any session, or the one before; it stands then.
  void step(bool forward);
  bool isRunning() const { return m_timer.isActive(); }
  /// Goes on from where it is; from the end, again from the beginning.
  void setRunning(bool running);
  /// Seconds of the sessions in one second, from kSlowest to kFastest.
  double speed() const { return m_speed; }
  void setSpeed(double speed);
  /// What so many milliseconds of running bring; the timer calls it.
  void advance(double milliseconds);

  /// How much of a session has happened by now: seconds of its time, and the end of its last trial as Unix time; infinite for sessions that are not played and,
  /// so that nothing is missing, for those that have ended.
  double elapsed(SessionId session) const;
  double timestamp(SessionId session) const;

 Q_SIGNALS:
  void sessionsChanged();  ///< others are played, or none
  void moved();            ///< another moment
  void runningChanged();

 private:
  const Session* find(SessionId session) const;
  std::vector<Session> m_sessions;
  double m_at = 0, m_length = 0, m_speed = 10;
  QTimer m_timer;
  QElapsedTimer m_since;
};

/// The trials of one task in a played session, of which the store holds those that have ended.
class PlayedTrials {
 public:
  enum class Change { none, grew, replaced };
  /// `rows`: all of them, in their order.
  PlayedTrials(std::vector<db::TrialOutcome> rows, double flops);
  /// To the moment of the clock. Times are those from before the finals until the session has ended. Going back makes another store.
  Change moveTo(double timestamp_s);
  const widgets::TrialStorePtr& store() const { return m_store; }

 private:
  std::vector<db::TrialOutcome> m_rows;
  double m_flops;
  size_t m_shown = 0;
  bool m_ended = false;
  widgets::TrialStorePtr m_store;
};

}  // namespace tw::app
