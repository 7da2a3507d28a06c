// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

namespace tw::app {

/// An arrangement of the views for one kind of work.
struct PerspectiveDef {
  const char* id;  ///< stable; its action is `view.perspective.<id>`
  QString (*title)();
  QString (*help)();
  QStringList shown;   ///< ids of views; empty: all
  QStringList raised;  ///< of tabs that lie on top of each other
  int bottom = 34;     ///< height of the views below the graph, percent of the window's
  int code = 46;       ///< width of the code, percent
};

/// All perspectives in the order of their shortcuts Ctrl+1...; perspectives.cpp. The first is that of a new user.
const std::vector<PerspectiveDef>& perspectives();

}  // namespace tw::app
