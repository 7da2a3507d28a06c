// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <vector>

namespace tw::widgets {

/// One property of several things.
struct SideBySideRow {
  QString name;
  QStringList values;  ///< one a thing
  int best = -1;       ///< which of them is the best, -1 if there is no order
};

/// Things side by side: a column each, a row for each property. Values of a row that differ are bold; the best one has a star.
class SideBySideModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using QAbstractTableModel::QAbstractTableModel;
  /// `corner` heads the column of the rows' names.
  void set(const QString& corner, const QStringList& titles, std::vector<SideBySideRow> rows);
  const std::vector<SideBySideRow>& rows() const { return m_rows; }

  int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : static_cast<int>(m_rows.size()); }
  int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() || m_titles.isEmpty() ? 0 : static_cast<int>(m_titles.size()) + 1; }
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  QString m_corner;
  QStringList m_titles;
  std::vector<SideBySideRow> m_rows;
};

}  // namespace tw::widgets
