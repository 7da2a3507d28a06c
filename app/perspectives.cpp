// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/perspectives.h"

#include <QCoreApplication>
#include <algorithm>

namespace tw::app {
namespace {

constexpr double kUsualWidth = 1600, kMostSide = 1.4;
/// Around what a chart draws: tabs, bar, legend, the names of its axes, and the strip of failures.
constexpr int kAbovePlot = 185, kBesidePlot = 80;

struct PerspectiveTexts {
  Q_DECLARE_TR_FUNCTIONS(Perspectives)
};

}  // namespace

int sideWidth(int pixels, double width) { return qRound(pixels * std::clamp(width / kUsualWidth, 1.0, kMostSide)); }

FrameFit frameFit(const PerspectiveDef& def, double width, double height, double taken) {
  FrameFit fit{.wide = width - taken >= def.rightFrom};
  if (!def.hasPlots || height - kDrawerHeight - kChrome >= 2 * (kLeastPlotHeight + kAbovePlot)) return fit;
  const double centre = width - taken - sideWidth(def.leftWidth, width), both = 2 * (kLeastPlotWidth + kBesidePlot);
  fit.split = centre >= both ? Split::beside : Split::tabs;
  fit.wide = fit.wide && (fit.split == Split::tabs || centre - sideWidth(def.rightWidth, width) >= both);
  return fit;
}

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
       .isDrawerOpen = true,
       .hasPlots = true},
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
