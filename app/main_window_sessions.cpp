// SPDX-License-Identifier: GPL-3.0-or-later
// What the main window says and starts around sessions and races.
#include <QStatusBar>
#include <algorithm>
#include <cmath>

#include "app/main_window.h"
#include "app/perspectives.h"
#include "app/run_bar.h"
#include "app/services/session_set.h"
#include "app/views/race_dialog.h"
#include "app/views/sessions_view.h"
#include "app/views/tasks_view.h"
#include "app/views/tune_view.h"
#include "engine/farm/farm_file.h"
#include "widgets/common/banner.h"
#include "widgets/common/format.h"
#include "widgets/records/time_kind.h"

namespace tw::app {

void MainWindow::offerTuning() {
  const OpenModelPtr& model = m_hub.model();
  const auto& sessions = m_workspace.sessions();
  const bool tuned = std::any_of(sessions.begin(), sessions.end(), [&](const db::SessionRow& s) { return s.model == model->id; });
  const records::Task* task = m_hub.taskValue();
  if (tuned || !task || !task->dag || !m_actions.get(QStringLiteral("tune.task"))->isEnabled()) return;
  m_offer = tr("This network was never tuned. Task T%1 %2 holds %3 % of its operations, more than any other.")
                .arg(m_hub.task() + 1)
                .arg(model->titleOf(m_hub.task()), widgets::numberText(100 * model->tasks[static_cast<size_t>(m_hub.task())].flops_share, 3));
  m_banner->showMessage(widgets::Banner::Kind::info, m_offer, {}, {m_actions.get(QStringLiteral("tune.task")), m_actions.get(QStringLiteral("tune.start"))});
}

void MainWindow::showOutcome(const QString& summary) {
  if (m_race.isActive()) return statusBar()->showMessage(summary, 5000);
  // Times of the tasks that were tried, each as often as the network runs it.
  double after = 0;
  std::vector<int> tried;
  const OpenModelPtr& model = m_tuning.model();
  bool isNew = false;  // the session holds a task's best
  for (size_t t = 0; t < model->tasks.size(); ++t) {
    const auto* p = m_tuning.progress(static_cast<int>(t));
    const db::TaskCounts standing = m_tasks.standing(static_cast<int>(t), m_tuning.kind());
    if (!p || !std::isfinite(standing.default_s) || !std::isfinite(standing.best_s)) continue;
    after += model->tasks[t].weight * std::min(standing.best_s, standing.default_s);
    isNew = isNew || (p->bestSeconds > 0 && p->bestSeconds <= standing.best_s);
    tried.push_back(static_cast<int>(t));
  }
  const auto tasks = static_cast<int>(tried.size());
  double before = m_tasks.networkByDefault(tried, m_tuning.kind());
  // Of one task the time of one run, as everywhere else.
  if (tasks == 1) before /= model->tasks[static_cast<size_t>(tried[0])].weight, after /= model->tasks[static_cast<size_t>(tried[0])].weight;
  if (tasks == 0) return m_banner->showMessage(widgets::Banner::Kind::info, summary);
  const QString what = tasks == 1 ? tr("T%1 %2").arg(tried[0] + 1).arg(model->titleOf(tried[0]))
                                  : tr("The %n tasks, added up over the network's calls", nullptr, tasks);
  if (tasks > 1 && m_hub.model() == model && m_hub.trial() < 0) {
    raiseView("tasks");
    m_tasksView->showGains();
  }
  const widgets::TimeKind kind = m_tuning.kind();
  const QString times = (kind == widgets::TimeKind::simulated  ? tr("%1 instead of %2 by the default schedule, both simulated")
                         : kind == widgets::TimeKind::replayed ? tr("%1 instead of %2 by the default schedule, both replayed")
                                                               : tr("%1 instead of %2 by the default schedule"))
                            .arg(widgets::secondsText(after), widgets::secondsText(before));
  const QString gain = !isNew ? tr("%1: nothing faster was found than earlier sessions have, %2.").arg(what, times)
                       : after < before ? tr("%1: %2 times as fast, %3.").arg(what, widgets::numberText(before / after, 3), times)
                                      : tr("%1: nothing faster than the default schedule was found.").arg(what);
  const QString& why = m_tuning.endedBecause();
  m_banner->showMessage(widgets::Banner::Kind::info, why.isEmpty() ? gain : QStringLiteral("%1 %2.").arg(gain, why), summary,
                        {m_actions.get(QStringLiteral("trial.why")), m_actions.get(QStringLiteral("trial.code")), m_actions.get(QStringLiteral("build.network"))});
}

void MainWindow::tryInNetwork() {
  const OpenModelPtr& model = m_tuning.model();
  if (m_race.isActive() || m_tuning.wasCancelled() || m_tuning.kind() != widgets::TimeKind::measured || m_hub.model() != model) return;
  for (size_t t = 0; t < model->tasks.size(); ++t)
    if (!m_tuning.progress(static_cast<int>(t))) return;  // some tasks say little of the network
  if (farm::is_farm_device(m_tuning.device()) && model->target.gpu) return;  // GPUs of a farm run kernels, and no networks
  m_finals.start(model, m_tuning.session(), m_tuning.device());
}

void MainWindow::showFinals(const OpenModelPtr& model, const api::NetworkFinals& f) {
  if (model != m_hub.model()) return;  // the panel of jobs says that it is done
  const QString tuned = widgets::secondsText(f.tuned_s), before = widgets::secondsText(f.default_s);
  if (f.taken == 0)
    return m_banner->showMessage(widgets::Banner::Kind::info, tr("The network takes %1 with its default schedules, which stay: nothing is surely faster inside it.").arg(before));
  m_banner->showMessage(widgets::Banner::Kind::info,
                        tr("The network takes %1 instead of %2, %3 times as fast (%4 to %5): %6 of the %7 schedules that won alone hold inside it.")
                            .arg(tuned, before, widgets::numberText(1 / f.network.ratio, 3), widgets::numberText(1 / f.network.high, 3),
                                 widgets::numberText(1 / f.network.low, 3), QString::number(f.taken), QString::number(f.tried)),
                        {}, {m_actions.get(QStringLiteral("trial.why")), m_actions.get(QStringLiteral("trial.code"))});
}

void MainWindow::chooseRace() {
  auto* dialog = new RaceDialog(m_services.engine.strategies(), m_hub, m_tuneView->options(), *m_tasks.model(),
                                m_workspace.database() ? m_workspace.database()->path() : "", this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::accepted, this, [this, dialog] {
    const RaceService::Plan plan = dialog->plan();
    if (plan.model != m_hub.model()) return;
    m_banner->hide();
    m_hub.setTrial(-1);
    m_hub.setComparedSessions({}, SelectionHub::Way::followed);
    setPerspective(QStringLiteral("compare"));
    m_race.start(plan);
  });
  dialog->open();
}

void MainWindow::showRace() {
  if (m_race.isActive())
    statusBar()->showMessage(tr("Race: session %1 of %2").arg(m_race.sessions().size()).arg(m_race.total()));
  else
    statusBar()->clearMessage();
  if (m_tuning.model() == m_hub.model()) m_hub.setComparedSessions(m_race.sessions(), SelectionHub::Way::followed);
}

void MainWindow::startTuning() {
  if (!m_actions.get(QStringLiteral("tune.start"))->isEnabled()) return;
  TuneService::Request request{m_hub.model(), {}, m_tuneView->options()};
  if (request.options.trials == 0 && request.options.trials_per_task == 0 && request.options.time_s == 0) {
    m_banner->showMessage(widgets::Banner::Kind::warning, tr("Set a number of trials or a time: without a limit the session would not end."));
    return;
  }
  request.device = m_runBar->device();
  if (m_tuneView->onlySelectedTask()) request.tasks.push_back(m_hub.task());
  m_banner->hide();
  m_hub.setTrial(-1);
  m_hub.noteConfigIndex(-1);
  if (m_perspective == QLatin1String("explore")) setPerspective(QStringLiteral("tune"));
  m_tuning.start(request);
}

const db::SessionRow* MainWindow::resumable() const {
  const db::SessionRow* found = nullptr;
  for (const db::SessionRow& s : m_workspace.sessions()) {
    if (s.state != "interrupted" && s.state != "cancelled") continue;
    if (s.id == m_hub.session()) return &s;
    if (s.state == "interrupted" && !m_hub.session()) found = &s;
  }
  return found;
}

void MainWindow::resumeSession() {
  const db::SessionRow* session = resumable();
  if (!session) return;
  m_banner->hide();
  // Its trials are for its target, whatever is on screen.
  withModel(session->model, session->target, [this, row = *session] {
    m_hub.setSession(row.id);
    m_hub.setTrial(-1);
    m_tuning.resume(m_hub.model(), row);
  });
}

void MainWindow::offerRecovery() {
  updateActions();
  if (!std::exchange(m_lookForInterrupted, m_workspace.sessions().empty()) || m_workspace.sessions().empty()) return;
  const db::SessionRow& last = m_workspace.sessions().back();
  if (last.state != "interrupted" || m_tuning.isActive() || m_hub.session() || last.id == m_tuning.session()) return;
  m_banner->showMessage(widgets::Banner::Kind::info,
                        tr("Session %1 of %2 was interrupted after %3 trials; all of them are stored.")
                            .arg(last.id.value)
                            .arg(m_workspace.modelName(last.model))
                            .arg(last.trials),
                        {}, {m_actions.get(QStringLiteral("tune.resume"))});
}

std::vector<SessionId> MainWindow::playable() const {
  // Sessions of the list may be of other networks.
  std::vector<SessionId> chosen = m_sessionsView ? m_sessionsView->selected() : std::vector<SessionId>();
  std::erase_if(chosen, [this](SessionId id) {
    const auto& rows = m_workspace.sessions();
    return std::none_of(rows.begin(), rows.end(), [&](const db::SessionRow& row) { return row.id == id && m_hub.model() && row.model == m_hub.model()->id; });
  });
  if (!chosen.empty()) return chosen;
  const SessionId nearest = SessionSet::nearest(m_hub, m_workspace);
  return nearest ? std::vector{nearest} : chosen;
}

}  // namespace tw::app
