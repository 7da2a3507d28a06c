// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QTimer>
#include <functional>
#include <vector>

namespace tw::app {

/// Long work with its progress: running jobs first, then what ended. A table with a row for each job; kEnded ended ones are kept.
class JobBoard : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Title, State, Progress, Elapsed, Left, ColumnCount };
  enum class Outcome { done, failed, cancelled };
  static constexpr int ProgressRole = Qt::UserRole + 1;  ///< 0 to 1, -1 while unknown
  static constexpr int kEnded = 50;

  explicit JobBoard(QObject* parent = nullptr);
  /// `cancel` may be empty: the job cannot be stopped. Returns its number.
  int begin(const QString& title, std::function<void()> cancel);
  /// `total` 0: unknown.
  void setProgress(int job, qint64 done, qint64 total, const QString& state = {});
  void end(int job, Outcome outcome, const QString& text = {});
  void cancel(int row);
  bool canCancel(int row) const;
  int running() const;

  int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : static_cast<int>(m_jobs.size()); }
  int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  struct Job {
    int id = 0;
    QString title, state;
    std::function<void()> cancel;
    qint64 done = 0, total = 0;
    double begin = 0, end = 0;  ///< Unix time; end 0 while it runs
    Outcome outcome = Outcome::done;
    bool cancelling = false;
  };
  int rowOf(int id) const;
  void tick();
  double left(const Job& job) const;
  std::vector<Job> m_jobs;
  QTimer m_tick;
  int m_next = 1;
};

}  // namespace tw::app
