// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/trial_service.h"

#include <algorithm>

namespace tw::app {

TrialService::TrialService(SelectionHub& hub, JobRunner& jobs, Workspace& workspace, TuneService& tuning, QObject* parent)
    : QObject(parent), m_hub(hub), m_jobs(jobs), m_workspace(workspace), m_tuning(tuning) {
  connect(&hub, &SelectionHub::modelChanged, this, &TrialService::select);
  connect(&hub, &SelectionHub::taskChanged, this, &TrialService::select);
  connect(&hub, &SelectionHub::sessionChanged, this, &TrialService::select);
  connect(&tuning, &TuneService::sessionStarted, this, &TrialService::select);
  connect(&tuning, &TuneService::progressed, this, [this](const std::vector<int>& tasks) {
    if (m_live && std::find(tasks.begin(), tasks.end(), m_hub.task()) != tasks.end()) Q_EMIT storeGrew();
  });
}

void TrialService::set(widgets::TrialStorePtr store, bool live, bool loading) {
  m_store = std::move(store);
  m_live = live;
  m_loading = loading;
  Q_EMIT storeChanged();
}

void TrialService::select() {
  m_job.stop();
  const SessionId session = m_hub.session();
  const int task = m_hub.task();
  if (!session || task < 0 || !m_hub.model()) return set(nullptr, false, false);
  if (session == m_tuning.session() && m_tuning.model() == m_hub.model()) {
    const auto* progress = m_tuning.progress(task);
    return set(progress ? progress->store : nullptr, true, false);
  }
  const auto& ids = m_hub.model()->taskIds;
  if (static_cast<size_t>(task) >= ids.size() || !m_workspace.reader()) return set(nullptr, false, false);
  load(session, ids[static_cast<size_t>(task)], static_cast<double>(m_hub.taskValue()->flops));
}

void TrialService::load(SessionId session, TaskId task, double flops) {
  set(nullptr, false, true);
  readOn(session, task, std::make_shared<widgets::TrialStore>(flops));
}

void TrialService::readOn(SessionId session, TaskId task, const widgets::TrialStorePtr& store) {
  // A screen full of trials comes first.
  const int64_t page = store->size() == 0 ? 1 << 8 : 1 << 14;
  using Rows = std::vector<db::TrialOutcome>;
  const auto work = [reader = m_workspace.reader(), session, task, after = store->lastNumber(), page](StopToken) -> Expected<Rows> {
    return reader->outcomes(session, task, after, page);
  };
  m_job.replace(m_jobs.run<Rows>(Lane::database, this, work, [this, session, task, store, page](Expected<Rows> rows) {
    if (!rows) {
      Q_EMIT failed(tr("The trials cannot be read: %1").arg(QString::fromStdString(rows.error().text())));
      return set(nullptr, false, false);
    }
    for (const db::TrialOutcome& row : *rows) store->append(row);
    const bool more = static_cast<int64_t>(rows->size()) == page;
    if (m_store == store) {
      m_loading = more;
      Q_EMIT storeGrew();
    } else {
      set(store, false, more);
    }
    if (more) readOn(session, task, store);
  }));
}

}  // namespace tw::app
