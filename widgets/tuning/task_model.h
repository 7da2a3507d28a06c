// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "widgets/records/time_kind.h"

namespace tw::widgets {

/// What the task table shows of one task. Times in seconds, infinity where there is none.
struct TaskLine {
  QString key, name, fused, shape, space;  ///< name: what it computes; fused: the name of the kernel
  int weight = 1;
  double flops = 0, share = 0;
  qint64 spaceSize = 1, trials = 0, failures = 0, budget = 0;
  double bestSeconds = 0, defaultSeconds = 0;
  double peak = 0;                     ///< FLOP/s that the machine of the best trial reached at its best; 0: not kept
  TimeKind kind = TimeKind::measured;  ///< of the trials that are counted
  QString others;                      ///< how many there are of other kinds, as "64 simulated", or empty
  QString phase;  ///< what a session is doing with it right now, or empty
  friend bool operator==(const TaskLine&, const TaskLine&) = default;
};

/// What all runs of the task take in one run of the network, in seconds; not a number where that is not known. Their sums are the network's estimates.
double costByDefault(const TaskLine& task);
double costNow(const TaskLine& task);  ///< with its best schedule, else the default one

/// Tasks of the open model, heaviest first. Text under SortRole is a number where the column is one.
class TaskModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Name, Shape, Weight, Mflops, Share, Space, Size, Trials, Failed, Best, Gflops, Peak, Speedup, Cost, Gain, ColumnCount };
  static constexpr int SortRole = Qt::UserRole + 1;
  static constexpr int TaskRole = Qt::UserRole + 2;

  explicit TaskModel(QObject* parent = nullptr);
  void setTasks(std::vector<TaskLine> tasks);
  void updateTask(int task, const TaskLine& line);
  const TaskLine& task(int i) const { return m_tasks[static_cast<size_t>(i)]; }
  /// Peak rate of this machine in FLOP/s for tasks that do not have their own, 0 while unknown.
  void setPeak(double flopsPerSecond);
  double peak() const { return m_peak; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  double peakOf(const TaskLine& task) const;
  QString text(const TaskLine& task, int row, int column) const;
  QVariant sortKey(const TaskLine& task, int row, int column) const;
  std::vector<TaskLine> m_tasks;
  double m_peak = 0;
};

}  // namespace tw::widgets
