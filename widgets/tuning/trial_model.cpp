// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tuning/trial_model.h"

#include <QApplication>
#include <QBrush>
#include <QFont>
#include <limits>

#include "widgets/common/format.h"
#include "widgets/theme/theme.h"
#include "widgets/tuning/status_text.h"

namespace tw::widgets {

TrialModel::TrialModel(QObject* parent) : QAbstractTableModel(parent) {}

void TrialModel::setStore(TrialStorePtr store) {
  beginResetModel();
  m_store = std::move(store);
  m_rows = m_store ? m_store->size() : 0;
  endResetModel();
}

void TrialModel::sync() {
  if (!m_store || m_store->size() == m_rows) return;
  beginInsertRows({}, m_rows, m_store->size() - 1);
  m_rows = m_store->size();
  endInsertRows();
}

int TrialModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : m_rows; }

int TrialModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

double TrialModel::bestSeconds() const {
  return m_store && !m_store->improvements().empty() ? m_store->improvements().back().seconds : std::numeric_limits<double>::infinity();
}

QString TrialModel::text(int row, int column) const {
  const TrialStore& s = *m_store;
  switch (column) {
    case Number:
      return countText(s.number(row));
    case Result:
      return statusGlyph(s.status(row)) + QLatin1Char(' ') + statusText(s.status(row));
    case Time:
      return s.ok(row) ? (s.censored(row) ? QString(QChar(0x2265)) : QString()) + numberText(s.seconds(row) * 1e3) : QString(QChar(0x2014));
    case Gflops:
      return gflopsText(s.flops(), s.seconds(row));
    case VersusBest:
      return s.ok(row) ? numberText(s.seconds(row) / bestSeconds(), 3) : QString(QChar(0x2014));
    case Config:
      return s.configIndex(row) < 0 ? QString(QChar(0x2014)) : countText(s.configIndex(row));
    case Space:
      return QString::fromStdString(s.space(row));
    case Build:
      return numberText(s.buildSeconds(row) * 1e3, 3);
    case Run:
      return numberText(s.runSeconds(row) * 1e3, 3);
    case When:
      return timeText(s.timestamp(row));
    case Message:
      return QString::fromStdString(s.message(row));
    default:
      return {};
  }
}

QVariant TrialModel::sortKey(int row, int column) const {
  const TrialStore& s = *m_store;
  switch (column) {
    case Number:
      return static_cast<qlonglong>(s.number(row));
    case Result:
      return static_cast<int>(s.status(row));
    case Time:
    case VersusBest:
      return s.seconds(row);
    case Gflops:
      return s.ok(row) && s.seconds(row) > 0 ? s.flops() / s.seconds(row) : 0.0;
    case Config:
      return static_cast<qlonglong>(s.configIndex(row));
    case Build:
      return s.buildSeconds(row);
    case Run:
      return s.runSeconds(row);
    case When:
      return s.timestamp(row);
    default:
      return text(row, column);
  }
}

QVariant TrialModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= m_rows) return {};
  const int row = index.row(), column = index.column();
  const bool isBest = !m_store->improvements().empty() && m_store->improvements().back().row == row;
  switch (role) {
    case Qt::DisplayRole:
      return text(row, column);
    case Qt::ToolTipRole:
      return column == Message || column == Result ? QString::fromStdString(m_store->message(row)).toHtmlEscaped() : QVariant();
    case SortRole:
      return sortKey(row, column);
    case Qt::TextAlignmentRole:
      return column == Result || column == Space || column == Message ? QVariant(Qt::AlignLeft | Qt::AlignVCenter)
                                                                      : QVariant(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::ForegroundRole:
      if (!m_store->ok(row) && (column == Result || column == Message)) return QBrush(themeOf(QApplication::palette()).error);
      return {};
    case Qt::FontRole:
      if (isBest) {
        QFont font;
        font.setBold(true);
        return font;
      }
      return {};
    default:
      return {};
  }
}

QVariant TrialModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::ToolTipRole) {
    switch (section) {
      case VersusBest:
        return tr("Time of this trial divided by the best so far");
      case Config:
        return tr("Position in the configuration space");
      case Time:
        return tr("Fastest sample; ≥ marks trials that were stopped early as clearly slower");
      default:
        return {};
    }
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case Number:
      return tr("#");
    case Result:
      return tr("Result");
    case Time:
      return tr("Time [ms]");
    case Gflops:
      return tr("GFLOP/s");
    case VersusBest:
      return tr("÷ best");
    case Config:
      return tr("Config");
    case Space:
      return tr("Space");
    case Build:
      return tr("Build [ms]");
    case Run:
      return tr("Run [ms]");
    case When:
      return tr("When");
    case Message:
      return tr("Message");
    default:
      return {};
  }
}

TrialFilter::TrialFilter(QObject* parent) : QSortFilterProxyModel(parent) {
  setSortRole(TrialModel::SortRole);
  setDynamicSortFilter(true);
}

void TrialFilter::setKeep(Keep keep) {
  m_keep = keep;
  invalidateRowsFilter();
}

void TrialFilter::setText(const QString& text) {
  m_text = text.trimmed();
  invalidateRowsFilter();
}

bool TrialFilter::filterAcceptsRow(int row, const QModelIndex&) const {
  const auto* model = qobject_cast<const TrialModel*>(sourceModel());
  const TrialStore& s = *model->store();
  if (m_keep == Keep::ok && !s.ok(row)) return false;
  if (m_keep == Keep::failed && s.ok(row)) return false;
  if (m_text.isEmpty()) return true;
  return QString::number(s.number(row)) == m_text || QString::number(s.configIndex(row)) == m_text ||
         statusText(s.status(row)).contains(m_text, Qt::CaseInsensitive) || QString::fromStdString(s.message(row)).contains(m_text, Qt::CaseInsensitive) ||
         QString::fromStdString(s.space(row)).contains(m_text, Qt::CaseInsensitive);
}

}  // namespace tw::widgets
