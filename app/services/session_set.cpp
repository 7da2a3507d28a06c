// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/session_set.h"

#include <limits>

#include "engine/base/json.h"
#include "widgets/records/time_kind.h"

namespace tw::app {

SessionSet::SessionSet(SelectionHub& hub, Workspace& workspace, TuneService& tuning, QObject* parent)
    : QObject(parent), m_hub(hub), m_workspace(workspace), m_tuning(tuning) {
  connect(&hub, &SelectionHub::comparedSessionsChanged, this, &SessionSet::rebuild);
  connect(&hub, &SelectionHub::taskChanged, this, &SessionSet::rebuild);
  connect(&hub, &SelectionHub::modelChanged, this, &SessionSet::rebuild);
  connect(&workspace, &Workspace::sessionsChanged, this, &SessionSet::rebuild);
  connect(&hub.playback(), &PlaybackClock::sessionsChanged, this, &SessionSet::rebuild);
  connect(&hub.playback(), &PlaybackClock::moved, this, &SessionSet::play);
  connect(&tuning, &TuneService::progressed, this, [this] {
    if (!m_active) return;
    for (const Entry& e : m_entries) {
      if (e.row.id == m_tuning.session()) Q_EMIT changed();
    }
  });
}

void SessionSet::setActive(bool active) {
  if (m_active == active) return;
  m_active = active;
  rebuild();
}

QString SessionSet::nameOf(const db::SessionRow& row) {
  if (!row.name.empty()) return widgets::withTimeKind(QStringLiteral("%1 %2").arg(row.id.value).arg(QString::fromStdString(row.name)), row.kind);
  QString name = QStringLiteral("%1 %2").arg(row.id.value).arg(QString::fromStdString(row.tuner));
  if (row.options.is_object() && row.options.contains("seed") && row.options["seed"].is_number())
    name += tr(", seed %1").arg(row.options["seed"].get<int64_t>());
  return widgets::withTimeKind(name, row.kind);
}

SessionId SessionSet::nearest(const SelectionHub& hub, const Workspace& workspace) {
  if (hub.session()) return hub.session();
  if (hub.trial() >= 0) return hub.trialRef().session;
  SessionId newest;
  for (const db::SessionRow& row : workspace.sessions())
    if (hub.model() && row.model == hub.model()->id && row.id.value > newest.value) newest = row.id;
  return newest;
}

void SessionSet::rebuild() {
  ++m_generation;
  for (const auto& job : m_jobs) job->request_stop();
  m_jobs.clear();
  m_entries.clear();
  const auto& model = m_hub.model();
  const auto task = static_cast<size_t>(std::max(0, m_hub.task()));
  if (m_active && model && m_hub.task() >= 0 && m_workspace.reader() && task < model->taskIds.size()) {
    for (const SessionId id : m_hub.comparedSessions()) {
      for (const db::SessionRow& row : m_workspace.sessions()) {
        if (row.id == id) m_entries.push_back({row, nullptr, false});
      }
    }
    for (size_t i = 0; i < m_entries.size(); ++i) {
      if (m_entries[i].row.id == m_tuning.session() && m_tuning.model() == model && m_tuning.progress(m_hub.task()))
        m_entries[i].store = m_tuning.progress(m_hub.task())->store;
      else if (m_hub.playback().plays(m_entries[i].row.id))
        readPlayed(i);
      else
        readOn(i);
    }
  }
  Q_EMIT changed();
}

void SessionSet::readPlayed(size_t entry) {
  using Rows = std::vector<db::TrialOutcome>;
  Entry& e = m_entries[entry];
  e.loading = true;
  const TaskId task = m_hub.model()->taskIds[static_cast<size_t>(m_hub.task())];
  const auto work = [reader = m_workspace.reader(), session = e.row.id, task](StopToken) -> Expected<Rows> {
    return reader->outcomes(session, task, 0, std::numeric_limits<int64_t>::max());
  };
  const auto flops = static_cast<double>(m_hub.taskValue()->flops);
  m_jobs.push_back(m_workspace.jobs().run<Rows>(Lane::database, this, work, [this, entry, flops, generation = m_generation](Expected<Rows> rows) {
    if (generation != m_generation) return;
    Entry& e = m_entries[entry];
    e.loading = false;
    if (!rows) Q_EMIT failed(tr("The trials of session %1 cannot be read: %2").arg(e.row.id.value).arg(QString::fromStdString(rows.error().text())));
    e.played.emplace(rows ? std::move(*rows) : Rows(), flops);
    e.played->moveTo(m_hub.playback().timestamp(e.row.id));
    e.store = e.played->store();
    Q_EMIT changed();
  }));
}

void SessionSet::play() {
  bool any = false;
  for (Entry& e : m_entries) {
    if (!e.played || e.played->moveTo(m_hub.playback().timestamp(e.row.id)) == PlayedTrials::Change::none) continue;
    e.store = e.played->store();
    any = true;
  }
  if (any) Q_EMIT changed();
}

void SessionSet::readOn(size_t entry) {
  constexpr int64_t kPage = 1 << 14;
  using Rows = std::vector<db::TrialOutcome>;
  Entry& e = m_entries[entry];
  e.loading = true;
  const TaskId task = m_hub.model()->taskIds[static_cast<size_t>(m_hub.task())];
  const auto flops = static_cast<double>(m_hub.taskValue()->flops);
  const auto work = [reader = m_workspace.reader(), session = e.row.id, task, after = e.store ? e.store->lastNumber() : 0](StopToken) -> Expected<Rows> {
    return reader->outcomes(session, task, after, kPage);
  };
  m_jobs.push_back(m_workspace.jobs().run<Rows>(Lane::database, this, work, [this, entry, flops, generation = m_generation](Expected<Rows> rows) {
    if (generation != m_generation) return;
    Entry& e = m_entries[entry];
    e.loading = false;
    if (!e.store) e.store = std::make_shared<widgets::TrialStore>(flops);
    if (!rows) {
      Q_EMIT failed(tr("The trials of session %1 cannot be read: %2").arg(e.row.id.value).arg(QString::fromStdString(rows.error().text())));
      return Q_EMIT changed();
    }
    for (const db::TrialOutcome& row : *rows) e.store->append(row);
    if (static_cast<int64_t>(rows->size()) == kPage && m_workspace.reader()) readOn(entry);
    Q_EMIT changed();
  }));
}

}  // namespace tw::app
