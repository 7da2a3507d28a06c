// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCoreApplication>

#include "app/views/build_view.h"
#include "app/views/campaign_view.h"
#include "app/views/code_dock.h"
#include "app/views/compare_view.h"
#include "app/views/curve_view.h"
#include "app/views/descent_view.h"
#include "app/views/devices_view.h"
#include "app/views/graph_page.h"
#include "app/views/inspector_view.h"
#include "app/views/jobs_view.h"
#include "app/views/landscape_view.h"
#include "app/views/log_view.h"
#include "app/views/loops_view.h"
#include "app/views/manual_view.h"
#include "app/views/navigator_view.h"
#include "app/views/network_view.h"
#include "app/views/operator_view.h"
#include "app/views/passes_view.h"
#include "app/views/path_view.h"
#include "app/views/rounds_view.h"
#include "app/views/sessions_view.h"
#include "app/views/sketches_view.h"
#include "app/views/space_view.h"
#include "app/views/tasks_view.h"
#include "app/views/trials_view.h"
#include "app/views/tune_view.h"
#include "app/views/view.h"
#include "app/views/why_view.h"

namespace tw::app {
namespace {

struct ViewTexts {
  Q_DECLARE_TR_FUNCTIONS(Views)
};

const ViewDef kViews[] = {
    {"graph", [] { return ViewTexts::tr("Graph"); }, false, GraphPage::create},
    {"navigator", [] { return ViewTexts::tr("Navigator"); }, true, NavigatorView::create},
    {"space", [] { return ViewTexts::tr("Space"); }, true, SpaceView::create},
    {"landscape", [] { return ViewTexts::tr("Landscape"); }, true, LandscapeView::create},
    {"sketches", [] { return ViewTexts::tr("Sketches"); }, true, SketchesView::create},
    {"code", [] { return ViewTexts::tr("Code"); }, true, CodeDock::create},
    {"operator", [] { return ViewTexts::tr("Operator"); }, false, OperatorView::create},
    {"passes", [] { return ViewTexts::tr("Passes"); }, true, PassesView::create},
    {"loops", [] { return ViewTexts::tr("Loops"); }, true, LoopsView::create},
    {"why", [] { return ViewTexts::tr("Why"); }, true, WhyView::create},
    {"inspector", [] { return ViewTexts::tr("Inspector"); }, true, InspectorView::create},
    {"tune", [] { return ViewTexts::tr("Options"); }, false, TuneView::create},
    {"build", [] { return ViewTexts::tr("Build and run"); }, false, BuildView::create},
    {"path", [] { return ViewTexts::tr("Measuring"); }, true, PathView::create},
    {"network", [] { return ViewTexts::tr("Network"); }, true, NetworkView::create},
    {"rounds", [] { return ViewTexts::tr("Rounds"); }, true, RoundsView::create},
    {"descent", [] { return ViewTexts::tr("Descent"); }, true, DescentView::create},
    {"curve", [] { return ViewTexts::tr("Tuning curve"); }, true, CurveView::create},
    {"compare", [] { return ViewTexts::tr("Compare"); }, true, CompareView::create},
    {"campaign", [] { return ViewTexts::tr("Campaign"); }, false, CampaignView::create},
    {"tasks", [] { return ViewTexts::tr("Tasks"); }, true, TasksView::create},
    {"trials", [] { return ViewTexts::tr("Trials"); }, true, TrialsView::create},
    {"sessions", [] { return ViewTexts::tr("Sessions"); }, true, SessionsView::create},
    {"devices", [] { return ViewTexts::tr("Devices"); }, false, DevicesView::create},
    {"jobs", [] { return ViewTexts::tr("Jobs"); }, false, JobsView::create},
    {"log", [] { return ViewTexts::tr("Log"); }, false, LogView::create},
    {"manual", [] { return ViewTexts::tr("Manual"); }, true, ManualView::create},
};

}  // namespace

std::span<const ViewDef> views() { return kViews; }

}  // namespace tw::app
