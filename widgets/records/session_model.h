// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <map>
#include <vector>

#include "db/database.h"

namespace tw::widgets {

/// Sessions of the workspace, newest first. The first column has a check box: whether the session is put beside others.
class SessionModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Id, Model, Tuner, Times, State, Trials, Started, Duration, Target, ColumnCount };
  explicit SessionModel(QObject* parent = nullptr);
  void setSessions(std::vector<db::SessionRow> sessions, std::map<int64_t, QString> modelNames);
  const db::SessionRow& session(int row) const { return m_sessions[static_cast<size_t>(row)]; }
  int rowOf(SessionId id) const;
  void setCompared(const std::vector<SessionId>& sessions);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 Q_SIGNALS:
  /// A check box was clicked; setCompared() answers.
  void compareToggled(tw::SessionId session, bool on);

 private:
  std::vector<SessionId> m_compared;
  std::vector<db::SessionRow> m_sessions;
  std::map<int64_t, QString> m_modelNames;
};

}  // namespace tw::widgets
