// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>

#include "widgets/charts/score_data.h"

namespace tw::widgets {

/// Candidates with what was said of them and what was measured, the newest first.
class ScoreModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Trial, Round, Draft, Verified, Time, ColumnCount };
  using QAbstractTableModel::QAbstractTableModel;
  void setTrials(std::vector<ScoredTrial> trials);
  /// -1 if it is not here.
  int rowOf(int64_t number) const;
  const ScoredTrial& trial(int row) const { return m_trials[m_trials.size() - 1 - static_cast<size_t>(row)]; }

  int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : static_cast<int>(m_trials.size()); }
  int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  std::vector<ScoredTrial> m_trials;  ///< ascending
};

}  // namespace tw::widgets
