// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/perspectives.h"

#include <QCoreApplication>

namespace tw::app {
namespace {

struct PerspectiveTexts {
  Q_DECLARE_TR_FUNCTIONS(Perspectives)
};

}  // namespace

const std::vector<PerspectiveDef>& perspectives() {
  static const std::vector<PerspectiveDef> table = {
      {"all",
       [] { return PerspectiveTexts::tr("&Everything"); },
       [] { return PerspectiveTexts::tr("All views around the graph"); },
       {},
       QStringList{"tasks", "tune", "space", "code", "curve"}},
      {"explore", [] { return PerspectiveTexts::tr("E&xplore"); }, [] { return PerspectiveTexts::tr("The network: graph, navigator, tasks, details"); },
       QStringList{"navigator", "inspector", "tasks", "sessions", "log"}, QStringList{"tasks", "inspector"}},
      {"tune", [] { return PerspectiveTexts::tr("&Tune"); }, [] { return PerspectiveTexts::tr("A session at work: controls, tasks, curve, trials"); },
       QStringList{"tune", "space", "tasks", "sessions", "jobs", "log", "curve", "network", "landscape", "trials"}, QStringList{"tasks", "space", "curve"}, 56},
      {"compare", [] { return PerspectiveTexts::tr("Co&mpare"); }, [] { return PerspectiveTexts::tr("Sessions side by side"); },
       QStringList{"navigator", "inspector", "tasks", "sessions", "curve", "network", "compare", "trials"}, QStringList{"sessions", "compare"}, 60},
      {"code", [] { return PerspectiveTexts::tr("&Code"); }, [] { return PerspectiveTexts::tr("Every form of a kernel beside the graph"); },
       QStringList{"space", "inspector", "code", "passes", "why", "trials"}, QStringList{"space", "code"}, 26, 56},
  };
  return table;
}

}  // namespace tw::app
