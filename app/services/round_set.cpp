// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/round_set.h"

#include <algorithm>

#include "app/services/session_set.h"
#include "widgets/charts/network_data.h"

namespace tw::app {

RoundSet::RoundSet(SelectionHub& hub, Workspace& workspace, TuneService& tuning, QObject* parent)
    : QObject(parent), m_hub(hub), m_workspace(workspace), m_tuning(tuning) {
  connect(&hub, &SelectionHub::comparedSessionsChanged, this, &RoundSet::rebuild);
  connect(&hub, &SelectionHub::sessionChanged, this, &RoundSet::rebuild);
  connect(&hub, &SelectionHub::modelChanged, this, &RoundSet::rebuild);
  connect(&workspace, &Workspace::sessionsChanged, this, &RoundSet::rebuild);
  connect(&tuning, &TuneService::roundsEnded, this, &RoundSet::addLive);
  connect(&hub.playback(), &PlaybackClock::sessionsChanged, this, &RoundSet::rebuild);
  connect(&hub.playback(), &PlaybackClock::moved, this, [this] {
    bool any = false;
    for (Entry& e : m_entries) any = play(e) || any;
    if (any) Q_EMIT changed();
  });
}

void RoundSet::setActive(bool active) {
  if (m_active == active) return;
  m_active = active;
  rebuild();
}

const RoundSet::Entry* RoundSet::nearest() const {
  const SessionId id = SessionSet::nearest(m_hub, m_workspace);
  const auto at = std::find_if(m_entries.begin(), m_entries.end(), [id](const Entry& e) { return e.row.id == id; });
  return at == m_entries.end() ? nullptr : &*at;
}

void RoundSet::rebuild() {
  ++m_generation;
  for (const auto& job : m_jobs) job->request_stop();
  m_jobs.clear();
  std::vector<Entry> before = std::exchange(m_entries, {});
  std::vector<SessionId> wanted = m_hub.comparedSessions();
  if (const SessionId one = SessionSet::nearest(m_hub, m_workspace); one && std::find(wanted.begin(), wanted.end(), one) == wanted.end())
    wanted.insert(wanted.begin(), one);
  if (m_active && m_hub.model() && m_workspace.reader()) {
    for (const SessionId id : wanted) {
      const auto& rows = m_workspace.sessions();
      const auto row = std::find_if(rows.begin(), rows.end(), [&](const db::SessionRow& r) { return r.id == id; });
      if (row == rows.end()) continue;
      m_entries.push_back({*row, {}, true});
      // What was read before stays in sight until there is more.
      for (Entry& e : before)
        if (e.row.id == id) m_entries.back().rounds = std::move(e.read.empty() ? e.rounds : e.read);
    }
  }
  for (size_t i = 0; i < m_entries.size(); ++i) read(i);
  addLive();
  Q_EMIT changed();
}

void RoundSet::read(size_t entry) {
  using Rounds = std::vector<records::Round>;
  const Entry& e = m_entries[entry];
  // The last one may have been cut off, and gone on since.
  const int64_t after = e.rounds.empty() ? 0 : e.rounds.back().number - 1;
  const auto work = [reader = m_workspace.summaryReader(), session = e.row.id, after](StopToken) -> Expected<Rounds> { return reader->rounds(session, after); };
  m_jobs.push_back(m_workspace.jobs().run<Rounds>(Lane::summary, this, work, [this, entry, generation = m_generation](Expected<Rounds> rounds) {
    if (generation != m_generation) return;
    Entry& e = m_entries[entry];
    e.loading = false;
    if (rounds) {
      widgets::putRounds(e.rounds, *rounds);
      if (m_hub.playback().plays(e.row.id)) e.read = e.rounds, play(e);
    }
    if (!rounds)
      Q_EMIT failed(tr("The rounds of session %1 cannot be read: %2").arg(e.row.id.value).arg(QString::fromStdString(rounds.error().text())));
    Q_EMIT changed();
  }));
}

bool RoundSet::play(Entry& e) {
  if (e.read.empty()) return false;
  const double elapsed = m_hub.playback().elapsed(e.row.id);
  const auto end = std::upper_bound(e.read.begin(), e.read.end(), elapsed, [](double at, const records::Round& r) { return at < r.elapsed_s; });
  if (static_cast<size_t>(end - e.read.begin()) == e.rounds.size()) return false;
  e.rounds.assign(e.read.begin(), end);
  return true;
}

void RoundSet::addLive() {
  if (m_tuning.model() != m_hub.model()) return;  // of another network or workspace, whose sessions may have the same numbers
  for (Entry& e : m_entries) {
    if (e.row.id != m_tuning.session()) continue;
    const auto& live = m_tuning.rounds();
    const int64_t last = e.rounds.empty() ? 0 : e.rounds.back().number;
    const auto news = std::find_if(live.begin(), live.end(), [&](const records::Round& r) { return r.number >= last; });
    widgets::putRounds(e.rounds, {news, live.end()});
    Q_EMIT changed();
  }
}

}  // namespace tw::app
