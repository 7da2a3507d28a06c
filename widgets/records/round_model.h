// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <map>
#include <vector>

#include "engine/base/ids.h"
#include "engine/records/round.h"

namespace tw::widgets {

/// The rounds of a session, newest first: which task the scheduler chose and why, and what came of it. The numbers behind a decision are in the tooltips.
class RoundModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Number, Task, Trials, Best, Network, Why, ColumnCount };
  using QAbstractTableModel::QAbstractTableModel;
  /// Rounds of the session that is shown already are added without a reset. `tasks`: what tasks are called, by key.
  void setRounds(SessionId session, const std::vector<records::Round>& rounds, std::map<std::string, QString> tasks);
  /// -1 if there is none of that number.
  int rowOf(int64_t number) const;
  const records::Round& round(int row) const { return m_rounds[m_rounds.size() - 1 - static_cast<size_t>(row)]; }

  int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : static_cast<int>(m_rounds.size()); }
  int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : ColumnCount; }
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  SessionId m_session;
  std::vector<records::Round> m_rounds;  ///< ascending
  std::map<std::string, QString> m_tasks;
};

}  // namespace tw::widgets
