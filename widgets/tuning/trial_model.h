// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <stop_token>

#include "widgets/records/time_kind.h"
#include "widgets/tuning/trial_query.h"

namespace tw::widgets {

/// Table over the rows of a TrialStore that a query keeps, in the order of one column. Texts are made for visible cells only. Up to kAtOnce trials are filtered
/// and sorted at once, more of them on another thread while the old rows stay; rows that come later are put in where they belong.
class TrialModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Number, Session, Result, Time, Gflops, VersusBest, Config, Space, Knobs, Predicted, Build, Run, When, Message, ColumnCount };
  static constexpr int kAtOnce = 20'000;

  explicit TrialModel(QObject* parent = nullptr);
  ~TrialModel() override;
  void setStore(TrialStorePtr store);
  void setSpaces(SpaceMap spaces);
  /// The tool tips of the columns with times say what these are; the view says it in sight.
  void setTimes(TimeKind kind);
  TimeKind times() const { return m_times; }
  void setQuery(const TrialQuery& query);
  /// Announces rows that were appended to the store since the last call.
  void sync();
  const TrialStorePtr& store() const { return m_store; }
  const SpaceMap& spaces() const { return m_spaces; }
  /// Row of the store behind a row of the table.
  int storeRow(int row) const { return m_rows[static_cast<size_t>(row)]; }
  /// Row of the table that shows a trial, -1 if the query hides it.
  int rowOfNumber(qint64 number) const;
  bool isArranging() const { return m_arranging; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
  void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

 Q_SIGNALS:
  /// Filtering or sorting began or ended.
  void arrangingChanged();

 private:
  void arrange();
  void take(std::vector<int> rows, int seen);
  void insertSorted(const std::vector<int>& fresh);
  bool isBefore(int a, int b) const;
  QString text(int row, int column) const;
  double bestSeconds() const;

  TrialStorePtr m_store;
  SpaceMap m_spaces;
  TimeKind m_times = TimeKind::measured;
  TrialQuery m_query;
  std::unique_ptr<TrialMatcher> m_matcher;
  std::vector<int> m_rows;  ///< of the store, in the order of the table
  int m_seen = 0;           ///< rows of the store that were looked at
  double m_seenBest = 0;
  int m_sortColumn = Number;
  Qt::SortOrder m_sortOrder = Qt::AscendingOrder;
  std::stop_source m_stop;
  bool m_arranging = false;
};

}  // namespace tw::widgets
