// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>
#include <QList>

class QAction;

namespace tw::widgets {

struct Theme;

/// Line icon drawn in the theme's colours; empty for a name it does not know. Names are those of actions, such as `tune.start`.
QIcon themedIcon(const QString& action, const Theme& theme);
/// Gives every action the icon of its objectName.
void setActionIcons(const QList<QAction*>& actions, const Theme& theme);

}  // namespace tw::widgets
