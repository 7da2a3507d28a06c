// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/task_board.h"

#include <cmath>
#include <limits>

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
  connect(&tuning, &TuneService::progressed, this, &TaskBoard::update);
}

double TaskBoard::defaultSeconds(int task) const {
  if (task < 0 || task >= m_model.rowCount()) return 0;
  const double s = m_model.task(task).defaultSeconds;
  return std::isfinite(s) ? s : 0;
}

void TaskBoard::rebuild() {
  m_totals.clear();
  m_counts.clear();
  if (m_hub.model()) {
    for (const auto& t : m_hub.model()->tasks) {
      widgets::TaskLine line;
      line.key = QString::fromStdString(t.task.key), line.name = QString::fromStdString(t.task.name), line.shape = outputShape(t.task);
      line.space = QString::fromStdString(t.space), line.spaceSize = t.space_size, line.weight = t.weight;
      line.flops = static_cast<double>(t.task.flops), line.share = t.flops_share, line.bestSeconds = line.defaultSeconds = kNone;
      m_totals.push_back(line);
    }
    if (m_model.peak() == 0) measurePeak();
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
  if (!m_workspace.reader() || !m_hub.model() || !m_hub.model()->id || m_tuning.isActive()) return;
  using Rows = std::vector<db::ModelTaskRow>;
  const auto work = [database = m_workspace.reader(), id = m_hub.model()->id](StopToken) -> Expected<Rows> { return database->tasks_of(id); };
  m_job.replace(m_jobs.run<Rows>(Lane::database, this, work, [this](Expected<Rows> rows) {
    if (!rows) {
      Q_EMIT failed(tr("The tasks cannot be read: %1").arg(QString::fromStdString(rows.error().text())));
      return;
    }
    if (!m_hub.model()) return;
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
    const auto* p = m_tuning.isActive() && m_tuning.model() == m_hub.model() ? m_tuning.progress(task) : nullptr;
    // Trials that are replayed are there already.
    const bool counted = p && m_tuning.kind() != db::TimeKind::replayed;
    widgets::TaskLine line = m_totals[static_cast<size_t>(task)];
    line.kind = counted ? m_tuning.kind() : row.kind();
    const db::TaskCounts& counts = row.of_kind[static_cast<size_t>(line.kind)];
    line.trials = counts.trials, line.failures = counts.failures;
    line.bestSeconds = faster(counts.best_s, 0), line.defaultSeconds = faster(counts.default_s, 0);
    QStringList others;
    for (size_t k = 0; k < db::kTimeKinds; ++k)
      if (const auto kind = static_cast<db::TimeKind>(k); kind != line.kind && row.of_kind[k].trials > 0)
        others << tr("%1 %2", "a number and what the times are").arg(widgets::countText(row.of_kind[k].trials), widgets::timeKindText(kind));
    line.others = others.join(QStringLiteral(", "));
    if (counted) {
      // The workspace's totals hold what a session that goes on had before.
      line.budget = p->budget > 0 ? line.trials - p->before + p->budget : 0;
      line.trials += std::max<qint64>(0, p->store->size() - p->before);
      line.failures -= p->failuresBefore;
      for (const auto& [status, count] : p->store->failures()) line.failures += count;
      line.bestSeconds = faster(line.bestSeconds, p->bestSeconds);
      if (p->defaultSeconds > 0) line.defaultSeconds = p->defaultSeconds;
    }
    if (p) line.phase = task == m_tuning.currentTask() ? p->phase : QString();
    m_model.updateTask(task, line);
  }
  Q_EMIT changed(tasks);
}

}  // namespace tw::app
