// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/job_feeds.h"

#include <QFileInfo>
#include <utility>

namespace tw::app {

JobFeeds::JobFeeds(JobBoard& board, TuneService& tuning, ModelService& models, Workspace& workspace) : m_board(board), m_tuning(tuning), m_models(models) {
  followWorkspace(workspace);
  connect(&tuning, &TuneService::stateChanged, this, &JobFeeds::followTuning);
  connect(&tuning, &TuneService::progressed, this, &JobFeeds::followTuning);
  connect(&tuning, &TuneService::finished, this, [this](const QString& summary) {
    m_board.end(m_session, m_tuning.wasCancelled() ? JobBoard::Outcome::cancelled : JobBoard::Outcome::done, summary);
    m_session = 0;
  });
  connect(&tuning, &TuneService::failed, this, [this](const QString& message) {
    if (!m_tuning.isActive()) m_board.end(m_session, JobBoard::Outcome::failed, message), m_session = 0;
  });
  connect(&models, &ModelService::failed, this, [this](const QString&, const QString& details) {
    m_board.end(m_model, JobBoard::Outcome::failed, details);
    m_model = 0;
  });
  connect(&models, &ModelService::opened, this, [this] {
    m_board.end(m_model, JobBoard::Outcome::done);
    m_model = 0;
  });
  connect(&models, &ModelService::busyChanged, this, &JobFeeds::followModels);
  connect(&models, &ModelService::progressed, this, [this](const QString& stage, int done, int total) { m_board.setProgress(m_model, done, total, stage); });
}

void JobFeeds::followWorkspace(Workspace& workspace) {
  connect(&workspace, &Workspace::upgrading, this, [this, &workspace](int from, int to, int done, int steps) {
    if (m_upgrade == 0)
      m_upgrade = m_board.begin(tr("Bringing %1 from format %2 to %3").arg(QFileInfo(workspace.path()).fileName()).arg(from).arg(to), [this, &workspace] {
        m_isUpgradeStopped = true;
        workspace.cancelUpgrade();
      });
    m_board.setProgress(m_upgrade, done, steps);
  });
  const auto end = [this](JobBoard::Outcome outcome, const QString& text = {}) {
    if (m_upgrade != 0) m_board.end(std::exchange(m_upgrade, 0), std::exchange(m_isUpgradeStopped, false) ? JobBoard::Outcome::cancelled : outcome, text);
  };
  connect(&workspace, &Workspace::opening, this, [end] { end(JobBoard::Outcome::cancelled); });
  connect(&workspace, &Workspace::opened, this, [this, end] {
    m_isUpgradeStopped = false;  // it was too late
    end(JobBoard::Outcome::done);
  });
  connect(&workspace, &Workspace::failed, this, [end](const QString& message) { end(JobBoard::Outcome::failed, message); });
}

void JobFeeds::followTuning() {
  if (!m_tuning.isActive()) return;
  if (m_session == 0) m_session = m_board.begin(tr("Tuning %1").arg(m_tuning.model()->name), [this] { m_tuning.cancel(); });
  const auto* task = m_tuning.progress(m_tuning.currentTask());
  QString state = m_tuning.state() == TuneService::State::paused ? tr("paused") : tr("running");
  if (task && m_tuning.state() == TuneService::State::running)
    state = tr("T%1: %2").arg(task->task + 1).arg(task->phase.isEmpty() ? tr("search") : task->phase);
  if (m_tuning.isCatchingUp()) state += tr(", catching up");
  m_board.setProgress(m_session, m_tuning.trialsDone(), m_tuning.trialsPlanned(), state);
}

void JobFeeds::followModels(const QString& what) {
  // Idle comes before opened() and failed(), which say how it ended; without either it was cancelled.
  if (what.isEmpty()) {
    QMetaObject::invokeMethod(
        this,
        [this, job = m_model] {
          if (job == m_model) m_board.end(m_model, JobBoard::Outcome::cancelled), m_model = 0;
        },
        Qt::QueuedConnection);
    return;
  }
  if (m_model != 0) m_board.end(m_model, JobBoard::Outcome::cancelled);
  m_model = m_board.begin(what, [this] { m_models.cancel(); });
}

}  // namespace tw::app
