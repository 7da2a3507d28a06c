// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include "widgets/tuning/trial_store.h"

namespace tw::widgets {

/// Table over a TrialStore; texts are made for visible cells only. Numbers for sorting under SortRole.
class TrialModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Number, Result, Time, Gflops, VersusBest, Config, Space, Build, Run, When, Message, ColumnCount };
  static constexpr int SortRole = Qt::UserRole + 1;

  explicit TrialModel(QObject* parent = nullptr);
  void setStore(TrialStorePtr store);
  /// Announces rows that were appended to the store since the last call.
  void sync();
  const TrialStorePtr& store() const { return m_store; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  QString text(int row, int column) const;
  QVariant sortKey(int row, int column) const;
  double bestSeconds() const;
  TrialStorePtr m_store;
  int m_rows = 0;
};

/// Sorts by number and keeps trials by outcome and text.
class TrialFilter : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  enum class Keep { all, ok, failed };
  explicit TrialFilter(QObject* parent = nullptr);
  void setKeep(Keep keep);
  void setText(const QString& text);

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  Keep m_keep = Keep::all;
  QString m_text;
};

}  // namespace tw::widgets
