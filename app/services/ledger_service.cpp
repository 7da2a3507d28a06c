// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/ledger_service.h"

#include <algorithm>
#include <cmath>

#include "widgets/tuning/knob_text.h"

namespace tw::app {

LedgerService::LedgerService(Engine& engine, SelectionHub& hub, Workspace& workspace, TuneService& tuning, ExplainService& explain, JobBoard& board,
                             QObject* parent)
    : QObject(parent), m_engine(engine), m_hub(hub), m_workspace(workspace), m_tuning(tuning), m_explain(explain), m_board(board) {
  connect(&explain, &ExplainService::explained, this, &LedgerService::changed);
  connect(&explain, &ExplainService::busy, this, &LedgerService::changed);
  connect(&explain, &ExplainService::spaceChanged, this, &LedgerService::changed);
  connect(&tuning, &TuneService::stateChanged, this, [this] {
    if (m_tuning.isActive()) stop();  // they would disturb each other
    Q_EMIT changed();
  });
  connect(&workspace, &Workspace::opening, this, [this] {
    stop();
    m_rows.clear();
    m_about.clear();
    Q_EMIT changed();
  });
  connect(&workspace, &Workspace::opened, this, &LedgerService::changed);
}

QString LedgerService::obstacle() const {
  if (m_busy) return tr("it is being measured");
  if (const QString why = measuringObstacle(m_hub, m_workspace, m_tuning, m_explain); !why.isEmpty()) return why;
  const auto& space = m_explain.space();
  if (!space.space || m_explain.candidate().space != space.name || !widgets::positionsOf(m_explain.candidate(), *space.space))
    return tr("the shown code is that of no point of a space");
  return {};
}

void LedgerService::start() {
  if (!obstacle().isEmpty()) return;
  m_model = m_hub.model();
  m_task = m_hub.task();
  m_candidate = m_explain.candidate();
  m_space = m_explain.space();
  m_positions = *widgets::positionsOf(m_candidate, *m_space.space);
  m_candidate.index = m_space.space->index_of(m_positions);  // a log need not say it
  m_session = {};
  m_rows.clear();
  m_at = 0, m_before = 0, m_noise = -1;
  m_about = tr("point %1 of %2").arg(m_candidate.index).arg(QString::fromStdString(m_space.name));
  m_busy = true;
  m_boardJob = m_board.begin(tr("What each choice is worth: T%1, %2").arg(m_task + 1).arg(m_about), [this] { stop(); });
  const auto work = [&engine = m_engine, task = m_model->tasks[static_cast<size_t>(m_task)].task, name = m_space.name](StopToken) -> Expected<int64_t> {
    return engine.pointByRule(task, name);
  };
  m_job.replace(m_workspace.jobs().run<int64_t>(Lane::work, this, work, [this](Expected<int64_t> byRule) {
    if (!byRule) return end(JobBoard::Outcome::failed, QString::fromStdString(byRule.error().text()));
    prepare(m_positions, *byRule);
    if (m_rows.empty()) return end(JobBoard::Outcome::done, tr("every knob has its value by rule"));
    next();
  }));
  Q_EMIT changed();
}

void LedgerService::prepare(const std::vector<int>& positions, qint64 byRule) {
  const auto& knobs = m_space.space->knobs();
  const std::vector<int> back = byRule >= 0 ? m_space.space->knob_positions(byRule) : std::vector<int>(knobs.size(), 0);
  for (size_t k = 0; k < knobs.size(); ++k) {
    if (positions[k] == back[k]) continue;
    std::vector<int> changed = positions;
    changed[k] = back[k];
    Row row;
    row.knob = QString::fromStdString(knobs[k].name);
    row.here = widgets::knobValueText(knobs[k], knobs[k].candidates[static_cast<size_t>(positions[k])]);
    row.byRule = widgets::knobValueText(knobs[k], knobs[k].candidates[static_cast<size_t>(back[k])]);
    row.index = m_space.space->index_of(changed);
    m_rows.push_back(std::move(row));
  }
}

void LedgerService::next() {
  const bool asItIs = m_at == 0 || m_at > m_rows.size(), last = m_at > m_rows.size();
  const auto work = [&engine = m_engine, model = m_model, task = m_task, candidate = m_candidate, database = m_workspace.database(), session = m_session,
                     index = asItIs ? m_candidate.index : m_rows[m_at - 1].index, last](StopToken stop) -> Expected<StoredTrial> {
    const records::Task& t = model->tasks[static_cast<size_t>(task)].task;
    TW_TRY(const records::Candidate point, index == candidate.index ? Expected<records::Candidate>(candidate) : engine.candidateAt(t, candidate.space, index));
    if (!last) return measureAndStore(engine, *database, *model, task, point, session, "ledger", stop);
    // A session measures a point once: the second time only tells how much times scatter.
    TW_TRY(const records::MeasureResult result, engine.measure(t, point, stop));
    return StoredTrial{{session, task, -1}, result.status, QString::fromStdString(result.message), result.seconds()};
  };
  m_job.replace(m_workspace.jobs().run<StoredTrial>(Lane::work, this, work, [this, asItIs, last](Expected<StoredTrial> stored) {
    const QString problem = !stored ? QString::fromStdString(stored.error().text()) : stored->status != records::Status::ok ? stored->message : QString();
    if (stored) m_session = stored->trial.session;
    if (asItIs && !problem.isEmpty()) return end(JobBoard::Outcome::failed, tr("The point itself cannot be measured: %1").arg(problem));
    if (asItIs && !last) m_before = stored->seconds;
    if (!asItIs) {
      Row& row = m_rows[m_at - 1];
      row.done = true;
      row.problem = problem;
      if (stored) row.trial = stored->trial;
      if (problem.isEmpty()) row.seconds = stored->seconds, row.ratio = stored->seconds / m_before;
    }
    m_board.setProgress(m_boardJob, static_cast<qint64>(++m_at), static_cast<qint64>(m_rows.size()) + 2);
    if (!last) {
      Q_EMIT changed();
      return next();
    }
    // Slow changes of the machine meet the two times of the point itself alike from both sides.
    const double middle = std::sqrt(m_before * stored->seconds);
    m_noise = std::abs(m_before - stored->seconds) / middle;
    for (Row& row : m_rows) {
      if (row.ratio > 0) row.ratio = row.seconds / middle;
    }
    std::stable_sort(m_rows.begin(), m_rows.end(), [](const Row& a, const Row& b) { return a.ratio > b.ratio; });
    end(JobBoard::Outcome::done);
  }));
}

void LedgerService::stop() {
  if (!m_busy) return;
  m_job.stop();
  std::erase_if(m_rows, [](const Row& row) { return !row.done; });
  end(JobBoard::Outcome::cancelled);
}

void LedgerService::end(JobBoard::Outcome outcome, const QString& message) {
  m_busy = false;
  m_board.end(m_boardJob, outcome, message);
  m_workspace.refreshSessions();
  if (outcome == JobBoard::Outcome::failed) Q_EMIT failed(message);
  Q_EMIT changed();
}

}  // namespace tw::app
