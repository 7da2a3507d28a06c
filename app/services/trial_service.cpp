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
  if (static_cast<size_t>(task) >= ids.size() || !m_workspace.database()) return set(nullptr, false, false);
  load(session, ids[static_cast<size_t>(task)], static_cast<double>(m_hub.taskValue()->flops));
}

void TrialService::load(SessionId session, TaskId task, double flops) {
  set(nullptr, false, true);
  const auto work = [database = m_workspace.database(), session, task, flops](StopToken stop) -> Expected<widgets::TrialStorePtr> {
    auto store = std::make_shared<widgets::TrialStore>(flops);
    constexpr int64_t kPage = 2048;
    for (TrialId after; !stop.stop_requested();) {
      TW_TRY(const std::vector<db::TrialRow> rows, database->trials(session, task, after, kPage, true));
      for (const auto& row : rows) store->append(row.number, row.record);
      if (static_cast<int64_t>(rows.size()) < kPage) break;
      after = rows.back().id;
    }
    return store;
  };
  m_job.replace(m_jobs.run<widgets::TrialStorePtr>(Lane::database, this, work, [this](Expected<widgets::TrialStorePtr> result) {
    if (!result) Q_EMIT failed(tr("The trials cannot be read: %1").arg(QString::fromStdString(result.error().text())));
    set(result ? *result : nullptr, false, false);
  }));
}

}  // namespace tw::app
