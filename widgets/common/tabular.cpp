// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/tabular.h"

#include <QAbstractItemView>
#include <QWidget>

namespace tw::widgets {
namespace {

void appendRows(const QAbstractItemModel& model, const QModelIndex& parent, int depth, Table& table) {
  for (int r = 0; r < model.rowCount(parent); ++r) {
    QStringList row;
    for (int c = 0; c < model.columnCount(parent); ++c) row << model.index(r, c, parent).data().toString();
    // The children of a row follow it, indented as on screen.
    if (!row.isEmpty()) row[0].prepend(QString(2 * depth, QLatin1Char(' ')));
    row.resize(table.columns.size());
    table.rows.push_back(row);
    appendRows(model, model.index(r, 0, parent), depth + 1, table);
  }
}

const QAbstractItemModel* modelOf(const QWidget* widget) {
  const auto* view = qobject_cast<const QAbstractItemView*>(widget);
  return view ? view->model() : nullptr;
}

void appendLine(const QStringList& fields, QByteArray& out) {
  for (qsizetype i = 0; i < fields.size(); ++i) {
    if (i > 0) out += ',';
    QByteArray field = fields[i].toUtf8();
    const bool quoted = field.contains(',') || field.contains('"') || field.contains('\n') || field.contains('\r') || field != field.trimmed();
    out += quoted ? '"' + field.replace("\"", "\"\"") + '"' : field;
  }
  out += "\r\n";
}

}  // namespace

Table tableOf(const QAbstractItemModel& model) {
  Table table;
  for (int c = 0; c < model.columnCount(); ++c) table.columns << model.headerData(c, Qt::Horizontal).toString();
  appendRows(model, {}, 0, table);
  return table;
}

Table tableOf(const QWidget* view) {
  QList<const QWidget*> candidates{view};
  for (const QWidget* child : view->findChildren<QWidget*>()) {
    if (child->isVisibleTo(view)) candidates << child;
  }
  for (const QWidget* widget : candidates) {
    if (const auto* tabular = dynamic_cast<const Tabular*>(widget)) return tabular->table();
    // The list behind a combo box is not what a view shows.
    if (widget->inherits("QComboBoxListView")) continue;
    if (const QAbstractItemModel* model = modelOf(widget)) return tableOf(*model);
  }
  return {};
}

QByteArray csvOf(const Table& table) {
  QByteArray out;
  appendLine(table.columns, out);
  for (const QStringList& row : table.rows) appendLine(row, out);
  return out;
}

}  // namespace tw::widgets
