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
      {.id = "explore",
       .title = [] { return PerspectiveTexts::tr("E&xplore"); },
       .help = [] { return PerspectiveTexts::tr("The network, and the schedule space of one task: knobs, landscape, code and why of each point"); },
       .left = {"space"},
       .leftBelow = {},
       .top = {"graph", "landscape", "sketches"},
       .bottom = {"code", "passes"},
       .right = {"why", "inspector"},
       .drawer = {"tasks", "trials", "sessions", "jobs", "log"},
       .leftWidth = 320,
       .rightWidth = 380,
       .topPercent = 55,
       .topAtLeast = 484,  // the landscape with its bar and tabs
       .isDrawerOpen = true},
      {.id = "tune",
       .title = [] { return PerspectiveTexts::tr("&Tune"); },
       .help = [] { return PerspectiveTexts::tr("A session at work: tasks and options, the network's curve, the task's curve"); },
       .left = {"tasks"},
       .leftBelow = {"tune"},
       .top = {"network", "build"},
       .bottom = {"curve", "path", "rounds", "descent", "landscape"},
       .right = {"graph", "inspector"},
       .drawer = {"trials", "sessions", "devices", "jobs", "log"},
       .leftWidth = 430,
       .rightWidth = 300,
       .topPercent = 50,
       .topAtLeast = 0,
       .isDrawerOpen = true},
      {.id = "compare",
       .title = [] { return PerspectiveTexts::tr("Co&mpare"); },
       .help = [] { return PerspectiveTexts::tr("Sessions and races side by side: curves, verdict, settings; campaigns of operators") ; },
       .left = {"sessions"},
       .leftBelow = {"navigator"},
       .top = {"compare", "campaign"},
       .bottom = {},
       .right = {"inspector"},
       .drawer = {"tasks", "trials", "jobs", "log"},
       .leftWidth = 390,
       .rightWidth = 300,
       .topPercent = 100,
       .topAtLeast = 0,
       .isDrawerOpen = false},
      {.id = "code",
       .title = [] { return PerspectiveTexts::tr("&Code"); },
       .help = [] { return PerspectiveTexts::tr("Every form of a kernel, linked line by line, and what each pass did"); },
       .left = {"graph", "inspector"},
       .leftBelow = {},
       .top = {"code", "operator"},
       .bottom = {"passes", "loops"},
       .right = {"why"},
       .drawer = {"trials", "tasks", "sessions", "jobs", "log"},
       .leftWidth = 300,
       .rightWidth = 380,
       .topPercent = 58,
       .topAtLeast = 0,
       .isDrawerOpen = false,
       .rightFrom = 1900},  // two columns of code have 60 characters each
      {.id = "teach",
       .title = [] { return PerspectiveTexts::tr("T&each"); },
       .help = [] { return PerspectiveTexts::tr("The manual beside steps, loops and code, large"); },
       .left = {"manual"},
       .leftBelow = {},
       .top = {"code"},
       .bottom = {"passes", "loops"},
       .right = {"graph"},
       .drawer = {"trials", "tasks", "sessions", "jobs", "log"},
       .leftWidth = 360,
       .rightWidth = 300,
       .topPercent = 58,
       .topAtLeast = 0,
       .isDrawerOpen = false},
  };
  return table;
}

}  // namespace tw::app
