// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractItemModel>
#include <limits>
#include <map>
#include <vector>

#include "db/database.h"

namespace tw::widgets {

/// Sessions of the workspace as a tree: those of a race under it by tuner, those that people grouped under the group's name, all others by themselves. Each row of
/// the first column has a check box: whether the session, or all below, is put beside others. Sorted by any column; at first the newest stand first.
class SessionModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  enum Column { Id, Model, Task, Tuner, Seed, Best, Trials, State, Times, Started, Duration, Target, ColumnCount };
  /// What is found by looking at the trials.
  struct Facts {
    QString task;     ///< the one that it tuned, or how many
    double best_s = std::numeric_limits<double>::infinity();  ///< of that task, or of the network; infinite where there is none
    bool ofNetwork = false;
  };
  explicit SessionModel(QObject* parent = nullptr);
  void setSessions(std::vector<db::SessionRow> sessions, std::map<int64_t, QString> modelNames);
  void setFacts(std::map<int64_t, Facts> facts);
  /// Of a session that runs.
  void setLive(SessionId session, int64_t trials, double best_s);
  void setCompared(const std::vector<SessionId>& sessions);
  /// Null for a race, a tuner of a race and a group.
  const db::SessionRow* session(const QModelIndex& index) const;
  QModelIndex indexOf(SessionId id) const;
  /// The session of a row, or all below it.
  std::vector<SessionId> sessionsUnder(const QModelIndex& index) const;
  /// What a row that stands for several is called; empty for a session. It outlives setSessions().
  QString groupPath(const QModelIndex& index) const;
  /// The race that a session belongs to; empty for none.
  static std::string raceOf(const db::SessionRow& row);

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& = {}) const override { return ColumnCount; }
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
  void sort(int column, Qt::SortOrder order) override;

 Q_SIGNALS:
  /// A check box was clicked; setCompared() answers.
  void compareToggled(const std::vector<tw::SessionId>& sessions, bool on);
  void renamed(tw::SessionId session, const QString& name);

 private:
  struct Node {
    QString title;     ///< of what stands for several
    int session = -1;  ///< in m_sessions
    int parent = 0, row = 0;
    std::vector<int> children;
  };
  void build();
  void tellOf(int node);
  int nodeUnder(int parent, const QString& title);
  int nodeOf(const QModelIndex& index) const { return index.isValid() ? static_cast<int>(index.internalId()) : 0; }
  void collect(int node, std::vector<int>& sessions) const;
  double bestOf(int session) const;
  QVariant groupText(const Node& node, const std::vector<int>& sessions, int column) const;
  QVariant sessionText(const db::SessionRow& row, int session, int column) const;
  QVariant key(int node, int column) const;

  std::vector<SessionId> m_compared;
  std::vector<db::SessionRow> m_sessions;
  std::map<int64_t, QString> m_modelNames;
  std::map<int64_t, Facts> m_facts;
  std::vector<Node> m_nodes;  ///< the first is above all
  int m_sortColumn = Id;
  Qt::SortOrder m_order = Qt::DescendingOrder;
};

}  // namespace tw::widgets
