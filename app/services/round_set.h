// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/selection_hub.h"
#include "app/services/job_runner.h"
#include "app/services/playback_clock.h"
#include "app/services/tune_service.h"
#include "app/services/workspace.h"

namespace tw::app {

/// The selected session and those that are put side by side (SelectionHub::comparedSessions), with their rounds; those of the running session as they end.
/// Of sessions that are played, those that had ended by the moment of the clock. Read only while somebody looks.
class RoundSet : public QObject {
  Q_OBJECT
 public:
  struct Entry {
    db::SessionRow row;
    std::vector<records::Round> rounds;  ///< ascending; none of sessions of programs that had no rounds
    bool loading = false;
    std::vector<records::Round> read = {};  ///< of a session that is played: all of them, of which `rounds` are those that have ended
  };

  RoundSet(SelectionHub& hub, Workspace& workspace, TuneService& tuning, QObject* parent);
  /// Starts or stops reading.
  void setActive(bool active);
  /// Those put side by side in their order; the selected session stands before them if it is none of them.
  const std::vector<Entry>& entries() const { return m_entries; }
  /// That of SessionSet::nearest(); null while there is none.
  const Entry* nearest() const;

 Q_SIGNALS:
  /// Other sessions, or more rounds.
  void changed();
  void failed(const QString& message);

 private:
  void rebuild();
  void read(size_t entry);
  void addLive();
  /// Whether other rounds of the entry are shown now.
  bool play(Entry& entry);

  SelectionHub& m_hub;
  Workspace& m_workspace;
  TuneService& m_tuning;
  std::vector<Entry> m_entries;
  std::vector<JobRunner::Handle> m_jobs;
  int m_generation = 0;  ///< results of earlier selections are dropped
  bool m_active = false;
};

}  // namespace tw::app
