// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>

#include "widgets/tuning/knob_text.h"
#include "widgets/tuning/trial_store.h"

namespace tw::widgets {

/// A trial among those put side by side.
struct TrayEntry {
  QString title;     ///< such as `session 3, trial 17`
  double flops = 0;  ///< of its task
  records::Record record;
};

/// Trials side by side: a column each, a row for each property and knob. Values that differ are bold; the fastest time is marked.
class TrayModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using QAbstractTableModel::QAbstractTableModel;
  void setEntries(std::vector<TrayEntry> entries, const SpaceMap& spaces);

  int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : static_cast<int>(m_rows.size()); }
  int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : static_cast<int>(m_titles.size()) + 1; }
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  struct Row {
    QString name;
    QStringList values;
    int best = -1;  ///< column of the best value, -1 if there is no order
  };
  void addRow(const QString& name, QStringList values, int best = -1);
  QStringList m_titles;
  std::vector<Row> m_rows;
};

}  // namespace tw::widgets
