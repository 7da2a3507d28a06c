// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/menus.h"

#include <QCoreApplication>

#include "app/action_registry.h"

namespace tw::app {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Menus", text); }

QStringList list(std::initializer_list<const char*> names) {
  QStringList out;
  for (const char* name : names) out << QLatin1String(name);
  return out;
}

}  // namespace

const std::vector<MenuDef>& menus() {
  static const std::vector<MenuDef> table = {
      {[] { return tr("&File"); },
       list({"file.open", "file.import", kRecentMenu, "file.start", "", "file.workspace", "", "file.exportView", "file.exportReport", "", "file.quit"})},
      {[] { return tr("&Edit"); },
       list({"edit.undo", "edit.redo", "", "edit.copyView", "", "code.find", "code.findNext", "code.findPrevious", "graph.search"})},
      {[] { return tr("&View"); }, list({kPerspectivesMenu, kPanelsMenu, "view.resetLayout", "", "view.table", "view.pin", "", "graph.zoomIn", "graph.zoomOut",
                                         "graph.fit", "", kThemeMenu, "view.bigType", "view.fullScreen"})},
      {[] { return tr("&Go"); }, list({"go.commands", "", "go.back", "go.forward", "", "trial.next", "trial.previous", "trial.best"})},
      {[] { return tr("&Tune"); }, list({"tune.start", "tune.task", "tune.resume", "", "tune.pause", "tune.cancel"})},
      {[] { return tr("&Help"); }, list({"help.manual", "help.shortcuts", "", "help.about"})},
  };
  return table;
}

QStringList actionsIn(const QString& entry, const ActionRegistry& actions) {
  if (isActionName(entry)) return {entry};
  const char* prefix = entry == QLatin1String(kPerspectivesMenu) ? "view.perspective." : entry == QLatin1String(kThemeMenu) ? "view.theme." : nullptr;
  QStringList names;
  for (const QAction* action : actions.all()) {
    const QString name = ActionRegistry::nameOf(action);
    if (prefix && name.startsWith(QLatin1String(prefix))) names << name;
  }
  return names;
}

QString plainText(QString text) { return text.remove(QLatin1Char('&')); }

}  // namespace tw::app
