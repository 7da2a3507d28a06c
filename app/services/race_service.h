// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "app/services/tune_service.h"

namespace tw::app {

/// Tuners against each other: a session for every tuner and seed, one after another. All tuners run with a seed before the next seed comes, so that a slow
/// change of the machine meets all of them alike.
class RaceService : public QObject {
  Q_OBJECT
 public:
  struct Plan {
    OpenModelPtr model;
    std::vector<int> tasks;  ///< of the model; empty: all
    std::vector<std::string> tuners;
    int seeds = 1;
    tune::SessionOptions options;  ///< of every session; its seed is the first
    std::string replay;            ///< TuneService::Request::replay
  };

  explicit RaceService(TuneService& tuning, QObject* parent = nullptr);
  /// Nothing happens while a session is running.
  void start(const Plan& plan);
  /// No further session begins; the running one goes on.
  void stop() { m_queue.clear(); }
  bool isActive() const { return m_active; }
  int total() const { return m_total; }
  /// What its sessions are kept under: when it began.
  const QString& name() const { return m_name; }
  /// Of the whole race; negative while that is not known.
  double secondsLeft() const;
  /// Those begun, in order.
  const std::vector<SessionId>& sessions() const { return m_sessions; }

 Q_SIGNALS:
  /// A session began, or the last one ended.
  void changed();
  void finished();

 private:
  void next();
  TuneService& m_tuning;
  std::vector<TuneService::Request> m_queue;  ///< the next one last
  std::vector<SessionId> m_sessions;
  int m_total = 0;
  bool m_active = false;
  QString m_name;
  double m_startedAt = 0;
};

}  // namespace tw::app
