// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/selection_hub.h"
#include "app/services/engine.h"
#include "app/services/tune_service.h"
#include "widgets/tuning/task_model.h"

namespace tw::app {

/// What is known of every task of the open model: totals of the workspace, and on top of them the running session.
class TaskBoard : public QObject {
  Q_OBJECT
 public:
  TaskBoard(Engine& engine, SelectionHub& hub, JobRunner& jobs, Workspace& workspace, TuneService& tuning, QObject* parent = nullptr);
  widgets::TaskModel* model() { return &m_model; }
  /// What the workspace and the running session have of a task, over all sessions whose times are of one kind: the one place that best and default come from.
  db::TaskCounts standing(int task, db::TimeKind kind) const;
  /// Of that, 0 while unknown.
  double defaultSeconds(int task, db::TimeKind kind) const;
  /// What these tasks take in one run of the network by their default schedules, in seconds; 0 while one has no such time.
  double networkByDefault(const std::vector<int>& tasks, db::TimeKind kind) const;

 Q_SIGNALS:
  void changed(const std::vector<int>& tasks);
  void failed(const QString& message);

 private:
  void rebuild();
  void readTotals();
  void update(const std::vector<int>& tasks);
  void measurePeak();
  /// What a session says of its machine, 0 if nothing.
  double peakOf(SessionId session) const;
  /// Of the session that is running or that the totals lack; null where it brings nothing of that kind.
  const TuneService::TaskProgress* fresh(int task, db::TimeKind kind) const;
  Engine& m_engine;
  SelectionHub& m_hub;
  JobRunner& m_jobs;
  Workspace& m_workspace;
  TuneService& m_tuning;
  widgets::TaskModel m_model;
  std::vector<widgets::TaskLine> m_totals;  // what the model says of them
  std::vector<db::TaskRow> m_counts;        // by the workspace, without the running session
  bool m_behind = false;                    // they lack what the last session brought
  std::string m_peakTarget;                 // of the model before
  LatestJob m_job, m_peakJob;
};

}  // namespace tw::app
