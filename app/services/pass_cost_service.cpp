// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/pass_cost_service.h"

#include <QCoreApplication>
#include <QPointer>
#include <algorithm>

#include "app/selection_hub.h"
#include "engine/measure/device.h"

namespace tw::app {

PassCostService::PassCostService(Engine& engine, SelectionHub& hub, Workspace& workspace, TuneService& tuning, JobBoard& board, QObject* parent)
    : QObject(parent), m_engine(engine), m_hub(hub), m_workspace(workspace), m_tuning(tuning), m_board(board) {
  connect(&tuning, &TuneService::stateChanged, this, [this] {
    if (m_tuning.isActive()) stop();
    Q_EMIT changed();
  });
  connect(&hub, &SelectionHub::modelChanged, this, [this] {
    stop();
    m_costs.clear();
    Q_EMIT changed();
  });
}

QString PassCostService::cannotMeasure() const {
  const OpenModelPtr& model = m_hub.model();
  if (!model) return tr("open a model first");
  if (model->network.imported.nodes.empty()) return tr("only its tasks are here, not the network");
  if (m_tuning.isActive()) return tr("a session is running");
  return {};
}

void PassCostService::measure(const std::vector<std::string>& passes, const std::string& task) {
  if (isActive() || passes.empty() || !cannotMeasure().isEmpty()) return;
  const OpenModelPtr model = m_hub.model();
  if (!task.empty() && model->taskByKey(task) < 0) return;
  const QString what = passes.size() == 1 ? QString::fromStdString(passes[0]) : tr("each of %n pass(es)", nullptr, static_cast<int>(passes.size()));
  m_boardJob = m_board.begin(tr("%1 without %2").arg(model->name, what), [this] { stop(); });
  m_state = tr("begins when what runs before it is done");
  Q_EMIT changed();
  const auto work = [self = QPointer<PassCostService>(this), &engine = m_engine, database = m_workspace.database(), model, passes, job = m_boardJob,
                     task](StopToken stop) -> Expected<std::vector<api::PassCost>> {
    const auto tell = [&](std::function<void(PassCostService&)> news) {
      QMetaObject::invokeMethod(
          qApp,
          [self, stop, news] {
            if (self && !stop.stop_requested()) news(*self);
          },
          Qt::QueuedConnection);
    };
    api::PassCostRequest request;
    request.network = &model->network;
    request.target = &model->target;
    request.records = database.get();
    request.device = measure::device_for(model->target);
    request.passes = passes;
    request.task = task;
    request.stop = stop;
    request.progress = [&](const std::string& what, int done, int total) {
      tell([job, state = QString::fromStdString(what), done, total](PassCostService& s) {
        s.m_state = state;
        s.m_board.setProgress(job, done, total, state);
        Q_EMIT s.progressed();
      });
    };
    request.on_cost = [&](const api::PassCost& cost) { tell([cost](PassCostService& s) { s.keep(cost); }); };
    return engine.passCosts(request);
  };
  m_job.replace(m_workspace.jobs().run<std::vector<api::PassCost>>(Lane::network, this, work, [this](Expected<std::vector<api::PassCost>> costs) {
    if (!costs) return end(JobBoard::Outcome::failed, QString::fromStdString(costs.error().text()));
    for (const api::PassCost& c : *costs) keep(c);
    end(JobBoard::Outcome::done);
  }));
}

void PassCostService::stop() {
  if (!isActive()) return;
  m_job.stop();
  end(JobBoard::Outcome::cancelled);
}

const api::PassCost* PassCostService::costOf(const std::string& pass, const std::string& task) const {
  const auto it = std::find_if(m_costs.begin(), m_costs.end(), [&](const api::PassCost& c) { return c.pass == pass && c.task == task; });
  return it == m_costs.end() ? nullptr : &*it;
}

void PassCostService::keep(const api::PassCost& cost) {
  std::erase_if(m_costs, [&](const api::PassCost& c) { return c.pass == cost.pass && c.task == cost.task; });
  m_costs.push_back(cost);
  Q_EMIT changed();
}

void PassCostService::end(JobBoard::Outcome outcome, const QString& text) {
  m_board.end(std::exchange(m_boardJob, 0), outcome, text);
  m_state = outcome == JobBoard::Outcome::failed ? text : QString();
  Q_EMIT changed();
}

}  // namespace tw::app
