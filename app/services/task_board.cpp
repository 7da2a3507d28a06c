// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/task_board.h"

#include <cmath>
#include <limits>

#include "engine/base/json.h"
#include "engine/measure/peak.h"
#include "widgets/common/format.h"
#include "widgets/graph/graph_scene.h"

namespace tw::app {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

/// Shape of the first output of a task's dag.
QString outputShape(const records::Task& task) {
  if (!task.dag || task.dag->outputs.empty()) return {};
  return widgets::shapeText(task.dag->ops[static_cast<size_t>(task.dag->outputs[0])].output->shape);
}

double faster(double a, double b) {
  const auto value = [](double s) { return s > 0 ? s : kNone; };
  return std::min(value(a), value(b));
}

}  // namespace

TaskBoard::TaskBoard(Engine& engine, SelectionHub& hub, JobRunner& jobs, Workspace& workspace, TuneService& tuning, QObject* parent)
    : QObject(parent), m_engine(engine), m_hub(hub), m_jobs(jobs), m_workspace(workspace), m_tuning(tuning) {
  connect(&hub, &SelectionHub::modelChanged, this, &TaskBoard::rebuild);
  connect(&workspace, &Workspace::sessionsChanged, this, &TaskBoard::readTotals);
  connect(&tuning, &TuneService::progressed, this, [this](const std::vector<int>& tasks) {
    if (m_tuning.isActive()) m_behind = true;
    update(tasks);
  });
}

const TuneService::TaskProgress* TaskBoard::fresh(int task, db::TimeKind kind) const {
  // Trials that are replayed are there already.
  if (kind != m_tuning.kind() || kind == db::TimeKind::replayed || m_tuning.model() != m_hub.model() || !(m_tuning.isActive() || m_behind)) return nullptr;
  return m_tuning.progress(task);
}

db::TaskCounts TaskBoard::standing(int task, db::TimeKind kind) const {
  if (task < 0 || static_cast<size_t>(task) >= m_counts.size()) return {};
  db::TaskCounts counts = m_counts[static_cast<size_t>(task)].of_kind[static_cast<size_t>(kind)];
  const auto* p = fresh(task, kind);
  if (!p) return counts;
  // The workspace's totals hold what a session that goes on had before.
  counts.trials += std::max<qint64>(0, p->store->size() - p->before);
  counts.failures -= p->failuresBefore;
  for (const auto& [status, count] : p->store->failures()) counts.failures += count;
  // As the workspace has it: the default's time is that of the session which holds the best.
  const bool holdsBest = faster(p->bestSeconds, 0) <= counts.best_s;
  if (p->defaultSeconds > 0 && (holdsBest || !std::isfinite(counts.default_s))) counts.default_s = p->defaultSeconds;
  if (holdsBest) counts.best_session = m_tuning.session();
  counts.best_s = faster(counts.best_s, p->bestSeconds);
  return counts;
}

double TaskBoard::peakOf(SessionId session) const {
  for (const db::SessionRow& s : m_workspace.sessions()) {
    if (s.id != session || !s.host.is_object()) continue;
    if (const auto peak = s.host.find(measure::kPeakOfHost); peak != s.host.end() && peak->is_number()) return peak->get<double>();
  }
  return 0;
}

double TaskBoard::defaultSeconds(int task, db::TimeKind kind) const {
  const double s = standing(task, kind).default_s;
  return std::isfinite(s) ? s : 0;
}

double TaskBoard::networkByDefault(const std::vector<int>& tasks, db::TimeKind kind) const {
  double sum = 0;
  for (const int task : tasks) {
    const double s = standing(task, kind).default_s;
    if (!std::isfinite(s)) return 0;
    sum += m_totals[static_cast<size_t>(task)].weight * s;
  }
  return sum;
}

void TaskBoard::rebuild() {
  m_totals.clear();
  m_counts.clear();
  if (m_hub.model()) {
    for (const auto& t : m_hub.model()->tasks) {
      widgets::TaskLine line;
      line.key = QString::fromStdString(t.task.key), line.name = m_hub.model()->titleOf(static_cast<int>(m_totals.size())), line.fused = QString::fromStdString(t.task.name), line.shape = outputShape(t.task);
      line.space = QString::fromStdString(t.space), line.spaceSize = t.space_size, line.weight = t.weight;
      line.flops = static_cast<double>(t.task.flops), line.share = t.flops_share, line.bestSeconds = line.defaultSeconds = kNone;
      m_totals.push_back(line);
    }
    if (std::string target = m_hub.model()->target.str(); target != std::exchange(m_peakTarget, target)) m_model.setPeak(0);
    if (m_model.peak() == 0 && m_hub.model()->isWhole) measurePeak();  // before, it would take the processor from the opening
  }
  m_counts.resize(m_totals.size());
  m_model.setTasks(m_totals);
  readTotals();
}

void TaskBoard::measurePeak() {
  if (m_tuning.isActive()) return;  // it would disturb the measurements, and they it
  m_peakJob.replace(m_jobs.run<double>(
      Lane::work, this, [&engine = m_engine, target = m_hub.model()->target](StopToken) { return engine.peak(target); },
      [this](Expected<double> peak) {
        if (peak)
          m_model.setPeak(*peak);
        else
          Q_EMIT failed(QString::fromStdString(peak.error().text()));
      }));
}

void TaskBoard::readTotals() {
  if (!m_workspace.reader() || !m_hub.model() || !m_hub.model()->id || (m_tuning.isActive() && m_tuning.model() == m_hub.model())) return;
  using Rows = std::vector<db::ModelTaskRow>;
  const auto work = [database = m_workspace.reader(), id = m_hub.model()->id](StopToken) -> Expected<Rows> { return database->tasks_of(id); };
  m_job.replace(m_jobs.run<Rows>(Lane::database, this, work, [this](Expected<Rows> rows) {
    if (!rows) {
      Q_EMIT failed(tr("The tasks cannot be read: %1").arg(QString::fromStdString(rows.error().text())));
      return;
    }
    if (!m_hub.model()) return;
    m_behind = false;
    std::vector<int> all;
    for (const auto& row : *rows) {
      const int task = m_hub.model()->taskByKey(row.task.key);
      if (task < 0) continue;
      m_counts[static_cast<size_t>(task)] = row.task;
      all.push_back(task);
    }
    update(all);
  }));
}

void TaskBoard::update(const std::vector<int>& tasks) {
  for (const int task : tasks) {
    if (static_cast<size_t>(task) >= m_totals.size()) continue;
    const db::TaskRow& row = m_counts[static_cast<size_t>(task)];
    widgets::TaskLine line = m_totals[static_cast<size_t>(task)];
    line.kind = row.kind();
    if (fresh(task, m_tuning.kind())) line.kind = m_tuning.kind();
    const db::TaskCounts counts = standing(task, line.kind);
    line.trials = counts.trials, line.failures = counts.failures;
    line.bestSeconds = counts.best_s, line.defaultSeconds = counts.default_s;
    line.peak = peakOf(counts.best_session);
    QStringList others;
    for (size_t k = 0; k < db::kTimeKinds; ++k)
      if (const auto kind = static_cast<db::TimeKind>(k); kind != line.kind && row.of_kind[k].trials > 0)
        others << tr("%1 %2", "a number and what the times are").arg(widgets::countText(row.of_kind[k].trials), widgets::timeKindText(kind));
    line.others = others.join(QStringLiteral(", "));
    const auto* p = m_tuning.isActive() && m_tuning.model() == m_hub.model() ? m_tuning.progress(task) : nullptr;
    if (p && p->budget > 0 && fresh(task, line.kind)) line.budget = row.of_kind[static_cast<size_t>(line.kind)].trials - p->before + p->budget;
    if (p) line.phase = task == m_tuning.currentTask() ? p->phase : QString();
    m_model.updateTask(task, line);
  }
  Q_EMIT changed(tasks);
}

}  // namespace tw::app
