// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/menus.h"

#include <QCoreApplication>

#include "app/action_registry.h"

namespace tw::app {
namespace {

struct MenuTexts {
  Q_DECLARE_TR_FUNCTIONS(Menus)
};

}  // namespace

const std::vector<MenuDef>& menus() {
  static const std::vector<MenuDef> table = {
      {[] { return MenuTexts::tr("&File"); }, QStringList{"file.open", "file.operator", "file.import", "file.campaign", kRecentMenu, "file.sizes", "file.start", "", "file.newWorkspace", "file.workspace", "",
                                                          "file.exportView", "file.exportReport", "file.exportTrial", "file.exportComparison", "file.exportCampaign", "", "file.close", "file.quit"}},
      {[] { return MenuTexts::tr("&Edit"); }, QStringList{"edit.undo", "edit.redo", "", "edit.copyView", "", "code.find", "code.findNext", "code.findPrevious",
                                                          "graph.search", "", "code.keepBase", "code.compareTray", "code.noBase", "", "edit.preferences"}},
      {[] { return MenuTexts::tr("&View"); }, QStringList{kPerspectivesMenu, kPanelsMenu, "view.drawer", "view.options", "view.resetLayout", "", "view.table", "view.pin", "", "graph.zoomIn",
                                                          "graph.zoomOut", "graph.fit", "", kThemeMenu, "view.bigType", "view.fullScreen"}},
      {[] { return MenuTexts::tr("&Go"); },
       QStringList{"go.commands", "", "go.back", "go.forward", "", "trial.next", "trial.previous", "trial.best", "trial.why", "trial.code", "", "pass.next",
                   "pass.previous", "", "code.nextChange", "code.previousChange"}},
      {[] { return MenuTexts::tr("&Tune"); },
       QStringList{"tune.start", "tune.task", "tune.resume", "tune.race", "campaign.run", "campaign.stop", "", "tune.pause", "tune.cancel", "", "build.network", "build.run", "tune.finals", "build.save", "build.export", "", "session.play", "session.rename",
                   "session.group", "session.share", "session.delete", "session.restore"}},
      {[] { return MenuTexts::tr("&Help"); }, QStringList{"help.manual", "help.lessons", "help.shortcuts", "", "help.about"}},
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
