// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/job_board.h"

#include <QDateTime>
#include <algorithm>

#include "engine/base/clock.h"
#include "widgets/common/format.h"

namespace tw::app {
namespace {}  // namespace

JobBoard::JobBoard(QObject* parent) : QAbstractTableModel(parent) {
  m_tick.setInterval(500);
  connect(&m_tick, &QTimer::timeout, this, &JobBoard::tick);
}

int JobBoard::rowOf(int id) const {
  const auto at = std::find_if(m_jobs.begin(), m_jobs.end(), [id](const Job& j) { return j.id == id; });
  return at == m_jobs.end() ? -1 : static_cast<int>(at - m_jobs.begin());
}

int JobBoard::running() const {
  return static_cast<int>(std::count_if(m_jobs.begin(), m_jobs.end(), [](const Job& j) { return j.end == 0; }));
}

int JobBoard::begin(const QString& title, std::function<void()> cancel) {
  beginInsertRows({}, 0, 0);
  Job job;
  job.id = m_next++;
  job.title = title;
  job.state = tr("running");
  job.cancel = std::move(cancel);
  job.begin = unix_now_s();
  m_jobs.insert(m_jobs.begin(), std::move(job));
  endInsertRows();
  m_tick.start();
  return m_jobs.front().id;
}

void JobBoard::setProgress(int id, qint64 done, qint64 total, const QString& state) {
  const int row = rowOf(id);
  if (row < 0 || m_jobs[static_cast<size_t>(row)].end > 0) return;
  Job& job = m_jobs[static_cast<size_t>(row)];
  job.done = done, job.total = total;
  if (!state.isEmpty() && !job.cancelling) job.state = state;
  Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1));
}

void JobBoard::end(int id, Outcome outcome, const QString& text) {
  const int row = rowOf(id);
  if (row < 0 || m_jobs[static_cast<size_t>(row)].end > 0) return;
  Job job = m_jobs[static_cast<size_t>(row)];
  job.end = unix_now_s();
  job.outcome = outcome;
  job.state = !text.isEmpty() ? text : outcome == Outcome::done ? tr("done") : outcome == Outcome::failed ? tr("failed") : tr("cancelled");
  job.cancel = nullptr;
  // It goes below those that still run.
  beginRemoveRows({}, row, row);
  m_jobs.erase(m_jobs.begin() + row);
  endRemoveRows();
  const int place = running();
  beginInsertRows({}, place, place);
  m_jobs.insert(m_jobs.begin() + place, std::move(job));
  endInsertRows();
  if (rowCount() - place > kEnded) {
    beginRemoveRows({}, place + kEnded, rowCount() - 1);
    m_jobs.resize(static_cast<size_t>(place + kEnded));
    endRemoveRows();
  }
  if (place == 0) m_tick.stop();
}

bool JobBoard::canCancel(int row) const {
  return row >= 0 && row < rowCount() && m_jobs[static_cast<size_t>(row)].cancel && !m_jobs[static_cast<size_t>(row)].cancelling;
}

void JobBoard::cancel(int row) {
  if (!canCancel(row)) return;
  Job& job = m_jobs[static_cast<size_t>(row)];
  job.cancelling = true;
  job.state = tr("stopping…");
  const auto stop = job.cancel;
  Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1));
  stop();
}

void JobBoard::tick() {
  const int count = running();
  if (count > 0) Q_EMIT dataChanged(index(0, Elapsed), index(count - 1, Left));
}

double JobBoard::left(const Job& job) const {
  if (job.end > 0 || job.total <= 0 || job.done <= 0) return -1;
  return (unix_now_s() - job.begin) * static_cast<double>(job.total - job.done) / static_cast<double>(job.done);
}

QVariant JobBoard::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const Job& job = m_jobs[static_cast<size_t>(index.row())];
  if (role == ProgressRole) return job.total > 0 ? static_cast<double>(job.done) / static_cast<double>(job.total) : -1.0;
  if (role == Qt::ToolTipRole) return (job.title + QStringLiteral(": ") + job.state).toHtmlEscaped();
  if (role == Qt::TextAlignmentRole) return QVariant((index.column() >= Progress ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  switch (index.column()) {
    case Title:
      return job.title;
    case State:
      return job.state;
    case Progress:
      if (job.total <= 0) return job.done > 0 ? widgets::countText(job.done) : QString(QChar(0x2014));
      return tr("%1 of %2").arg(widgets::countText(job.done), widgets::countText(job.total));
    case Elapsed:
      return widgets::durationText((job.end > 0 ? job.end : unix_now_s()) - job.begin);
    case Left:
      return widgets::durationText(left(job));
    default:
      return {};
  }
}

QVariant JobBoard::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (section) {
    case Title:
      return tr("Job");
    case State:
      return tr("State");
    case Progress:
      return tr("Progress");
    case Elapsed:
      return tr("Elapsed");
    case Left:
      return tr("Left");
    default:
      return {};
  }
}

}  // namespace tw::app
