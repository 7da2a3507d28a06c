// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/perspectives.h"

#include <QCoreApplication>

namespace tw::app {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Perspectives", text); }

QStringList list(std::initializer_list<const char*> ids) {
  QStringList out;
  for (const char* id : ids) out << QLatin1String(id);
  return out;
}

}  // namespace

const std::vector<PerspectiveDef>& perspectives() {
  static const std::vector<PerspectiveDef> table = {
      {"all", [] { return tr("&Everything"); }, [] { return tr("All views around the graph"); }, {}, list({"tasks", "tune", "space", "code", "curve"})},
      {"explore", [] { return tr("E&xplore"); }, [] { return tr("The network: graph, navigator, tasks, details"); },
       list({"navigator", "inspector", "tasks", "sessions", "log"}), list({"tasks", "inspector"})},
      {"tune", [] { return tr("&Tune"); }, [] { return tr("A session at work: controls, tasks, curve, trials"); },
       list({"tune", "space", "tasks", "sessions", "jobs", "log", "curve", "landscape", "trials"}), list({"tasks", "space", "curve"}), 56},
      {"compare", [] { return tr("Co&mpare"); }, [] { return tr("Sessions side by side"); },
       list({"navigator", "inspector", "tasks", "sessions", "curve", "compare", "trials"}), list({"sessions", "compare"}), 60},
      {"code", [] { return tr("&Code"); }, [] { return tr("Every form of a kernel beside the graph"); }, list({"space", "inspector", "code", "why", "trials"}),
       list({"space", "code"}), 26, 56},
  };
  return table;
}

}  // namespace tw::app
