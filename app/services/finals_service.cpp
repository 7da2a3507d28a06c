// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/finals_service.h"

#include "app/logs/network_trials.h"
#include "engine/measure/device.h"

namespace tw::app {

FinalsService::FinalsService(Engine& engine, Workspace& workspace, TuneService& tuning, JobBoard& board, QObject* parent)
    : QObject(parent), m_engine(engine), m_workspace(workspace), m_tuning(tuning), m_board(board) {
  connect(&tuning, &TuneService::stateChanged, this, [this] {
    if (m_tuning.isActive()) stop();
  });
}

void FinalsService::start(const OpenModelPtr& model, std::optional<SessionId> session, const std::string& on) {
  if (isActive() || m_tuning.isActive() || !model || !model->id || !m_workspace.isWritable()) return;
  m_boardJob = m_board.begin(tr("Trying the best schedules inside %1").arg(model->name), [this] { stop(); });
  Q_EMIT changed();
  const auto work = [&engine = m_engine, database = m_workspace.database(), model, session, on](StopToken stop) -> Expected<api::NetworkFinals> {
    api::NetworkFinalsRequest request;
    request.network = &model->network;
    request.target = &model->target;
    TW_TRY(request.tasks, logs::tried_tasks(model->tasks, *database));
    request.device = on.empty() ? measure::device_for(model->target) : on;
    if (measure::is_simulated(request.device))
      return Error(ErrorCode::not_applicable, "There is nothing to try: what is simulated takes the sum of its kernels' times, and all that won alone holds");
    request.stop = stop;
    TW_TRY(api::NetworkFinals finals, engine.networkFinals(request));
    if (finals.measured) TW_CHECK(logs::store_finals(model->id, model->target, session, finals, *database));
    return finals;
  };
  m_job.replace(m_workspace.jobs().run<api::NetworkFinals>(Lane::network, this, work, [this, model](Expected<api::NetworkFinals> finals) {
    if (!finals) {
      const QString why = QString::fromStdString(finals.error().text());
      end(JobBoard::Outcome::failed, why);
      return Q_EMIT failed(finals.error().code == ErrorCode::not_applicable ? why : tr("The network cannot be run: %1").arg(why));
    }
    end(JobBoard::Outcome::done);
    if (finals->measured) Q_EMIT finished(model, *finals);
  }));
}

void FinalsService::stop() {
  if (!isActive()) return;
  m_job.stop();
  end(JobBoard::Outcome::cancelled);
}

void FinalsService::end(JobBoard::Outcome outcome, const QString& text) {
  m_board.end(std::exchange(m_boardJob, 0), outcome, text);
  Q_EMIT changed();
}

}  // namespace tw::app
