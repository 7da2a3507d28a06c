// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/trial_service.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "widgets/records/time_kind.h"

namespace tw::app {

TrialService::TrialService(SelectionHub& hub, JobRunner& jobs, Workspace& workspace, TuneService& tuning, QObject* parent)
    : QObject(parent), m_hub(hub), m_jobs(jobs), m_workspace(workspace), m_tuning(tuning) {
  connect(&hub, &SelectionHub::modelChanged, this, &TrialService::select);
  connect(&hub, &SelectionHub::taskChanged, this, &TrialService::select);
  connect(&hub, &SelectionHub::sessionChanged, this, &TrialService::select);
  connect(&hub, &SelectionHub::trialChanged, this, [this] {
    m_wantsBest = false;
    noteSelection();
  });
  connect(&hub.playback(), &PlaybackClock::sessionsChanged, this, &TrialService::select);
  connect(&hub.playback(), &PlaybackClock::moved, this, &TrialService::play);
  connect(&tuning, &TuneService::sessionStarted, this, &TrialService::select);
  connect(&workspace, &Workspace::sessionsChanged, this, &TrialService::catchUp);
  connect(&workspace, &Workspace::contentsChanged, this, &TrialService::select);
  connect(&tuning, &TuneService::progressed, this, [this](const std::vector<int>& tasks) {
    if (std::find(tasks.begin(), tasks.end(), m_hub.task()) == tasks.end()) return;
    if (!m_live) return catchUp();
    noteSelection();
    Q_EMIT storeGrew();
  });
}

TaskId TrialService::task() const {
  const auto at = static_cast<size_t>(m_hub.task());
  return m_hub.model() && m_hub.task() >= 0 && at < m_hub.model()->taskIds.size() ? m_hub.model()->taskIds[at] : TaskId{};
}

void TrialService::set(widgets::TrialStorePtr store, bool live, bool loading) {
  m_store = std::move(store);
  m_live = live;
  m_loading = loading;
  m_again = false;
  noteSelection(true);
  Q_EMIT storeChanged();
}

void TrialService::noteSelection(bool otherStore) {
  const TrialRef trial = m_hub.trialRef();
  const int row = m_store && trial.number >= 0 ? m_store->rowOf(trial.session, trial.number) : -1;
  const qint64 selected = row < 0 ? -1 : m_store->number(row);
  // Trials that come leave it where it is, most often, and views draw themselves anew for it.
  if (std::exchange(m_selected, selected) != selected || otherStore) Q_EMIT selectionChanged();
}

void TrialService::choose(qint64 number) {
  const int row = m_store ? m_store->rowOf(number) : -1;
  if (row < 0) return m_hub.setTrial(-1);
  m_hub.setTrial({m_store->session(row), m_hub.task(), m_store->numberInSession(row)});
}

void TrialService::chooseBest() {
  if (m_store && !m_store->improvements().empty()) choose(m_store->number(m_store->improvements().back().row));
  m_wantsBest = m_loading;
}

void TrialService::select() {
  m_job.stop();
  m_played.reset();
  if (m_storeTask != task()) m_wantsBest = false;
  const SessionId session = m_hub.session();
  if (!task() || !m_workspace.reader()) return set(nullptr, false, false);
  if (session && session == m_tuning.session() && m_tuning.model() == m_hub.model() && m_tuning.isActive()) {
    const auto* progress = m_tuning.progress(m_hub.task());
    m_kind = m_tuning.kind();
    m_storeTask = task();
    return set(progress ? progress->store : nullptr, true, false);
  }
  if (session) m_kind = widgets::timeKind(m_workspace.sessions(), session);
  if (m_store && m_storeTask == task()) {
    m_live = false, m_loading = true;  // the trials of the task that are shown stay until the others are there
  } else {
    set(nullptr, false, true);
  }
  m_storeTask = task();
  if (session && m_hub.playback().plays(session)) return readPlayed(session);
  readOn(std::make_shared<widgets::TrialStore>(static_cast<double>(m_hub.taskValue()->flops), !session));
}

void TrialService::readPlayed(SessionId session) {
  using Rows = std::vector<db::TrialOutcome>;
  const auto work = [reader = m_workspace.reader(), session, task = task()](StopToken) -> Expected<Rows> {
    return reader->outcomes(session, task, 0, std::numeric_limits<int64_t>::max());
  };
  m_job.replace(m_jobs.run<Rows>(Lane::database, this, work, [this, session, flops = static_cast<double>(m_hub.taskValue()->flops)](Expected<Rows> rows) {
    if (!rows) {
      Q_EMIT failed(tr("The trials cannot be read: %1").arg(QString::fromStdString(rows.error().text())));
      return set(nullptr, false, false);
    }
    m_played.emplace(std::move(*rows), flops);
    m_played->moveTo(m_hub.playback().timestamp(session));
    set(m_played->store(), false, false);
  }));
}

void TrialService::play() {
  if (!m_played) return;
  switch (m_played->moveTo(m_hub.playback().timestamp(m_hub.session()))) {
    case PlayedTrials::Change::none: return;
    case PlayedTrials::Change::replaced: return set(m_played->store(), false, false);
    case PlayedTrials::Change::grew: break;
  }
  noteSelection();
  Q_EMIT storeGrew();
}

void TrialService::catchUp() {
  if (m_live || m_hub.session() || !task() || !m_workspace.reader()) return;
  if (m_loading) {
    m_again = true;
    return;
  }
  if (!m_store) return select();
  m_loading = true;
  readOn(m_store);
}

void TrialService::readOn(const widgets::TrialStorePtr& store) {
  if (!m_workspace.reader()) return set(nullptr, false, false);  // another one is being opened meanwhile
  // A screen full of trials comes first.
  const int64_t limit = store->size() == 0 ? 1 << 8 : 1 << 14;
  const auto work = [reader = m_workspace.reader(), session = m_hub.session(), task = task(), kind = m_kind, after = store->lastNumber(), id = store->lastId(),
                     limit](StopToken) -> Expected<Page> {
    Page page{kind, {}};
    if (session) {
      TW_TRY(page.rows, reader->outcomes(session, task, after, limit));
      return page;
    }
    TW_TRY(page.kind, reader->time_kind_of(task));
    TW_TRY(page.rows, reader->outcomes(task, page.kind, id, limit));
    return page;
  };
  m_job.replace(m_jobs.run<Page>(Lane::database, this, work, [this, store, limit](Expected<Page> page) {
    if (!page) {
      Q_EMIT failed(tr("The trials cannot be read: %1").arg(QString::fromStdString(page.error().text())));
      m_wantsBest = false;
      return set(nullptr, false, false);
    }
    if (store->isOfSessions() && page->kind != m_kind) {
      m_kind = page->kind;
      if (store->size() > 0) return select();  // trials of a kind came that goes before
    }
    for (const db::TrialOutcome& row : page->rows) store->append(row);
    const bool more = static_cast<int64_t>(page->rows.size()) == limit || std::exchange(m_again, false);
    if (m_store == store) {
      m_loading = more;
      noteSelection();
      Q_EMIT storeGrew();
    } else {
      set(store, false, more);
    }
    if (more) return readOn(store);
    if (std::exchange(m_wantsBest, false)) chooseBest();
  }));
}

}  // namespace tw::app
