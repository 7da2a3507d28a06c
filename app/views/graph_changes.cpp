// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/graph_changes.h"

#include <QCoreApplication>

namespace tw::app {

namespace {

QString tr(const char* text, int n = -1) { return QCoreApplication::translate("GraphChanges", text, nullptr, n); }

/// Such as `12 of 14 computed at once, 2 left out`.
QString fate(const frontends::OperatorReading& r) {
  QStringList parts;
  const auto add = [&](int64_t count, const QString& what) {
    if (count > 0) parts << (parts.isEmpty() ? tr("%1 of %2 %3").arg(count).arg(r.uses).arg(what) : QStringLiteral("%1 %2").arg(count).arg(what));
  };
  add(r.computed, tr("computed at once"));
  add(r.left_out, tr("left out"));
  add(r.expanded, tr("expanded"));
  if (r.expanded > 0) parts << tr("%1 operators in all").arg(r.operators);
  return parts.join(QStringLiteral(", "));
}

}  // namespace

void showGraphChanges(widgets::PropertyTree& tree, const api::Network& network) {
  tree.clear();
  QTreeWidgetItem* reading = nullptr;
  for (const frontends::OperatorReading& r : network.reading) {
    const QString text = fate(r);
    if (text.isEmpty()) continue;
    if (!reading) reading = tree.section(tr("Reading the file"));
    tree.line(reading, QString::fromStdString(r.name), text);
  }
  QTreeWidgetItem* passes = nullptr;
  for (const api::PassEffect& p : network.passes) {
    if (!passes) passes = tree.section(tr("Passes over the graph"));
    const QString text = p.before == p.after ? tr("%1 operators, changed").arg(p.before) : tr("%1 operators became %2").arg(p.before).arg(p.after);
    tree.line(passes, QString::fromStdString(p.name), text);
  }
  if (!reading && !passes) tree.showMessage(tr("Every operator of the file stands as it is."));
}

}  // namespace tw::app
