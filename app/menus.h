// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

namespace tw::app {

/// One menu of the window.
struct MenuDef {
  QString (*title)();
  /// Names of actions; empty: a line between groups; one of the submenus below.
  QStringList actions;
};

/// Submenus that the window fills.
inline constexpr char kRecentMenu[] = "*recent", kPanelsMenu[] = "*panels", kPerspectivesMenu[] = "*perspectives", kThemeMenu[] = "*theme";

/// All menus, left to right; menus.cpp. Every action of the registry stands in one of them.
const std::vector<MenuDef>& menus();

class ActionRegistry;
/// Names of the actions of an entry: itself, or those of a submenu.
QStringList actionsIn(const QString& entry, const ActionRegistry& actions);
inline bool isActionName(const QString& entry) { return !entry.isEmpty() && !entry.startsWith(QLatin1Char('*')); }
/// Without the marks of mnemonics.
QString plainText(QString text);

}  // namespace tw::app
