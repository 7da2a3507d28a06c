// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/side_by_side.h"

#include <QFont>
#include <algorithm>

namespace tw::widgets {

void SideBySideModel::set(const QString& corner, const QStringList& titles, std::vector<SideBySideRow> rows) {
  beginResetModel();
  m_corner = corner;
  m_titles = titles;
  m_rows = std::move(rows);
  if (titles.isEmpty()) m_rows.clear();
  endResetModel();
}

QVariant SideBySideModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const SideBySideRow& row = m_rows[static_cast<size_t>(index.row())];
  const int column = index.column() - 1;
  if (role == Qt::DisplayRole) {
    if (column < 0) return row.name;
    return column == row.best && m_titles.size() > 1 ? QString(QChar(0x2605)) + QLatin1Char(' ') + row.values[column] : row.values[column];
  }
  if (role == Qt::FontRole && column >= 0 && std::any_of(row.values.begin(), row.values.end(), [&](const QString& v) { return v != row.values[0]; })) {
    QFont font;
    font.setBold(true);
    return font;
  }
  if (role == Qt::ToolTipRole) return (column < 0 ? row.name : row.values[column]).toHtmlEscaped();
  return {};
}

QVariant SideBySideModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return section == 0 ? m_corner : m_titles.value(section - 1);
}

}  // namespace tw::widgets
