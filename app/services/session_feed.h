// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "db/database.h"
#include "engine/tune/session.h"

namespace tw::app {

/// Between the thread that tunes and the GUI thread: the latest state of the session, and the trials since it was taken last, at most kTrials of them.
/// What does not fit is dropped, for every trial is in the database before it is told of; numbers of trials show the reader what it missed.
class SessionFeed {
 public:
  static constexpr size_t kTrials = 4096, kNotes = 200;
  struct Trial {
    int task = 0;  ///< of the session
    db::TrialOutcome outcome;
  };
  struct TaskState {
    int64_t budget = 0;
    int64_t lastNumber = 0;                      ///< of the trials told of, dropped ones included
    int64_t before = 0;                          ///< trials from before the session went on
    double bestSeconds = 0, defaultSeconds = 0;  ///< 0: not known
    std::string phase;
  };
  /// What the session did from one moment on.
  struct Phase {
    int task = -1;  ///< of the session
    std::string name;
    double at_s = 0;  ///< Unix time
  };
  /// The candidates that are being built and measured, and where each is since when.
  struct Batch {
    int task = -1;  ///< of the session
    std::vector<records::Candidate> candidates;  ///< without steps
    std::vector<measure::Stage> stages;
    std::vector<double> since_s;  ///< Unix time
  };
  struct State {
    SessionId session;
    int64_t planned = 0, trials = 0;  ///< over all tasks; trials include dropped ones
    int64_t before = 0;               ///< of them, those from before the session went on
    double workedBefore_s = 0, pausedBefore_s = 0;  ///< the same of its time
    int64_t dropped = 0;              ///< trials since the state was taken last
    int currentTask = -1;             ///< of the session
    std::map<int, TaskState> tasks;   ///< by task of the session
    std::vector<int> changed;         ///< tasks with news, ascending
    std::vector<Trial> fresh;         ///< trials in the order they were told
    std::vector<std::pair<int, std::vector<records::Record>>> settled;  ///< what finals decided after those, by task of the session
    std::vector<records::Round> rounds;  ///< that ended
    std::vector<tune::TaskDone> done;
    std::vector<std::string> notes;
    std::vector<Phase> phases;    ///< that began
    std::optional<Batch> batch;   ///< none between batches
    std::optional<Expected<tune::SessionReport>> end;
  };

  /// Where one goes on: per task of the session how many trials are there already, how long it had worked and not worked.
  void begin(SessionId session, const std::vector<int64_t>& trials = {}, double worked_s = 0, double paused_s = 0);
  void tell(const tune::Event& event);
  void end(Expected<tune::SessionReport> report);
  /// The state with all news since the last call.
  State take();

 private:
  void change(int task);
  std::mutex m_mutex;
  State m_state;
};

}  // namespace tw::app
