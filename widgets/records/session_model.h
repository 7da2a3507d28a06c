// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <map>
#include <vector>

#include "db/database.h"

namespace tw::widgets {

/// Sessions of the workspace, newest first.
class SessionModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Id, Model, Tuner, State, Trials, Started, Duration, Target, ColumnCount };
  explicit SessionModel(QObject* parent = nullptr);
  void setSessions(std::vector<db::SessionRow> sessions, std::map<int64_t, QString> modelNames);
  const db::SessionRow& session(int row) const { return m_sessions[static_cast<size_t>(row)]; }
  int rowOf(SessionId id) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  std::vector<db::SessionRow> m_sessions;
  std::map<int64_t, QString> m_modelNames;
};

}  // namespace tw::widgets
