// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tuning/task_model.h"

#include <QApplication>
#include <QPainter>
#include <QPixmap>
#include <cmath>

#include "widgets/common/format.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {

QPixmap swatch(const QColor& color) {
  QPixmap pixmap(12, 12);
  pixmap.fill(Qt::transparent);
  QPainter p(&pixmap);
  p.setRenderHint(QPainter::Antialiasing);
  p.setPen(Qt::NoPen);
  p.setBrush(color);
  p.drawRoundedRect(QRectF(1, 1, 10, 10), 3, 3);
  return pixmap;
}

/// Known by its trials alone, as a log has them: what it computes is not known.
bool isForeign(const TaskLine& t) { return t.flops == 0 && t.shape.isEmpty(); }

double known(double seconds) { return seconds > 0 && std::isfinite(seconds) ? seconds : std::nan(""); }

}  // namespace

double costByDefault(const TaskLine& t) { return t.weight * known(t.defaultSeconds); }

double costNow(const TaskLine& t) { return std::isnan(known(t.bestSeconds)) ? costByDefault(t) : t.weight * t.bestSeconds; }

TaskModel::TaskModel(QObject* parent) : QAbstractTableModel(parent) {}

void TaskModel::setTasks(std::vector<TaskLine> tasks) {
  beginResetModel();
  m_tasks = std::move(tasks);
  endResetModel();
}

void TaskModel::updateTask(int task, const TaskLine& line) {
  if (task < 0 || static_cast<size_t>(task) >= m_tasks.size() || m_tasks[static_cast<size_t>(task)] == line) return;
  m_tasks[static_cast<size_t>(task)] = line;
  Q_EMIT dataChanged(index(task, 0), index(task, ColumnCount - 1));
}

void TaskModel::setPeak(double flopsPerSecond) {
  m_peak = flopsPerSecond;
  if (!m_tasks.empty()) Q_EMIT dataChanged(index(0, Peak), index(rowCount() - 1, Peak));
}

int TaskModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_tasks.size()); }

int TaskModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

double TaskModel::peakOf(const TaskLine& task) const { return task.peak > 0 ? task.peak : m_peak; }

QString TaskModel::text(const TaskLine& t, int row, int column) const {
  switch (column) {
    case Name:
      return QStringLiteral("T%1  %2").arg(row + 1).arg(t.name) +
             (t.phase.isEmpty() ? QString() : QStringLiteral("  ") + QChar(0x25B6) + QLatin1Char(' ') + t.phase);
    case Shape:
      return t.shape;
    case Weight:
      return QString(QChar(0x00D7)) + QString::number(t.weight);
    case Mflops:
      return numberText(isForeign(t) ? std::nan("") : t.flops / 1e6);
    case Share:
      return percentText(isForeign(t) ? std::nan("") : t.share);
    case Space:
      return t.space;
    case Size:
      return countText(t.spaceSize);
    case Trials:
      return t.budget > 0 ? tr("%1 / %2").arg(countText(t.trials), countText(t.budget)) : countText(t.trials);
    case Failed:
      return countText(t.failures);
    case Best:
      return secondsText(known(t.bestSeconds));
    case Gflops:
      return gflopsText(t.flops, t.bestSeconds);
    case Peak:
      return percentText(peakOf(t) > 0 && !isForeign(t) ? t.flops / known(t.bestSeconds) / peakOf(t) : std::nan(""));
    case Speedup: {
      const double ratio = known(t.defaultSeconds) / known(t.bestSeconds);
      return std::isfinite(ratio) ? numberText(ratio, 3) + QString(QChar(0x00D7)) : QString(QChar(0x2014));
    }
    case Cost:
      return secondsText(costNow(t));
    case Gain:
      return secondsText(known(t.bestSeconds) > 0 ? costByDefault(t) - costNow(t) : std::nan(""));
    default:
      return {};
  }
}

QVariant TaskModel::sortKey(const TaskLine& t, int row, int column) const {
  const double best = std::isnan(known(t.bestSeconds)) ? HUGE_VAL : t.bestSeconds;
  switch (column) {
    case Name:
      return row;
    case Weight:
      return t.weight;
    case Mflops:
      return t.flops;
    case Share:
      return t.share;
    case Size:
      return t.spaceSize;
    case Trials:
      return t.trials;
    case Failed:
      return t.failures;
    case Best:
      return best;
    case Gflops:
      return t.flops / best;
    case Peak:
      return peakOf(t) > 0 ? t.flops / best / peakOf(t) : 0.0;
    case Speedup:
      return std::isnan(known(t.defaultSeconds)) ? 0.0 : t.defaultSeconds / best;
    case Cost:
      return std::isnan(costNow(t)) ? 0.0 : costNow(t);
    case Gain:
      return std::isnan(costByDefault(t)) ? 0.0 : costByDefault(t) - costNow(t);
    default:
      return text(t, row, column);
  }
}

QVariant TaskModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const TaskLine& t = m_tasks[static_cast<size_t>(index.row())];
  const int column = index.column();
  switch (role) {
    case Qt::DisplayRole:
      return text(t, index.row(), column);
    case Qt::ToolTipRole:
      if (column >= Trials && t.trials > 0) {
        const QString kind = tr("Of %1 trials that are %2").arg(countText(t.trials), timeKindText(t.kind));
        return (t.others.isEmpty() ? kind : tr("%1; besides: %2").arg(kind, t.others)).toHtmlEscaped();
      }
      return QStringLiteral("%1\n%2\n%3").arg(t.name, t.fused, t.shape).toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>"));
    case SortRole:
      return sortKey(t, index.row(), column);
    case TaskRole:
      return index.row();
    case Qt::DecorationRole:
      return column == Name ? QVariant(swatch(themeOf(QApplication::palette()).categorical(index.row()))) : QVariant();
    case Qt::TextAlignmentRole:
      return QVariant((column == Name || column == Shape || column == Space ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case Qt::ForegroundRole:
      if (column == Failed && t.failures > 0) return QBrush(themeOf(QApplication::palette()).error);
      return {};
    default:
      return {};
  }
}

QVariant TaskModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::ToolTipRole) {
    switch (section) {
      case Weight:
        return tr("How often the network runs this task");
      case Mflops:
        return tr("Operations of one run, in millions");
      case Share:
        return tr("Part of the network's operations, in percent");
      case Size:
        return tr("Number of points of the configuration space");
      case Best:
        return tr("Fastest trial over all sessions of the same kind: measured ones before simulated ones");
      case Peak:
        return m_peak > 0 ? tr("Percent of what multiply-add instructions reached on the machine of the best trial when its session began; where that is not kept, of the %1 GFLOP/s here and now").arg(numberText(m_peak / 1e9))
                          : tr("The machine's peak is being measured");
      case Cost:
        return tr("What the network spends on this task by now: its best time, as often as the network runs it");
      case Gain:
        return tr("What that is less than with the default schedule");
      case Speedup:
        return tr("Time of the default schedule divided by the best time");
      default:
        return {};
    }
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case Name:
      return tr("Task");
    case Shape:
      return tr("Output");
    case Weight:
      return tr("Weight");
    case Mflops:
      return tr("MFLOP");
    case Share:
      return tr("Share [%]");
    case Space:
      return tr("Space");
    case Size:
      return tr("Points");
    case Trials:
      return tr("Trials");
    case Failed:
      return tr("Failed");
    case Best:
      return tr("Best");
    case Gflops:
      return tr("GFLOP/s");
    case Peak:
      return tr("% of peak");
    case Speedup:
      return tr("Speed-up");
    case Cost:
      return tr("Cost now");
    case Gain:
      return tr("Gain");
    default:
      return {};
  }
}

}  // namespace tw::widgets
