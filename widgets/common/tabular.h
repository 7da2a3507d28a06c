// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

class QAbstractItemModel;
class QWidget;

namespace tw::widgets {

/// Rows of texts under named columns: what a view shows, without its looks.
struct Table {
  QStringList columns;
  std::vector<QStringList> rows;
};

/// A painted widget that can say what it shows as a table. Every painted view is one: "view as table", CSV export and tests read it.
/// Numbers are in the C locale with full precision, units in the column's name.
class Tabular {
 public:
  virtual ~Tabular() = default;
  virtual Table table() const = 0;
};

/// Every row of a flat model as it is shown, hidden columns included.
Table tableOf(const QAbstractItemModel& model);
/// The table of `view`: of itself or of the first visible widget inside that is Tabular or an item view. Empty columns if there is none.
Table tableOf(const QWidget* view);
/// As comma-separated values after RFC 4180: a head line, fields quoted where they need it, lines ended by CR LF.
QByteArray csvOf(const Table& table);

}  // namespace tw::widgets
