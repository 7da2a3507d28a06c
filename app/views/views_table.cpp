// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCoreApplication>

#include "app/views/code_dock.h"
#include "app/views/compare_view.h"
#include "app/views/curve_view.h"
#include "app/views/inspector_view.h"
#include "app/views/jobs_view.h"
#include "app/views/landscape_view.h"
#include "app/views/log_view.h"
#include "app/views/navigator_view.h"
#include "app/views/network_view.h"
#include "app/views/passes_view.h"
#include "app/views/sessions_view.h"
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
    {"tune", [] { return ViewTexts::tr("Tune"); }, Qt::LeftDockWidgetArea, nullptr, false, TuneView::create},
    {"navigator", [] { return ViewTexts::tr("Navigator"); }, Qt::LeftDockWidgetArea, "tune", false, NavigatorView::create},
    {"space", [] { return ViewTexts::tr("Space"); }, Qt::LeftDockWidgetArea, nullptr, true, SpaceView::create},
    {"inspector", [] { return ViewTexts::tr("Inspector"); }, Qt::LeftDockWidgetArea, "space", true, InspectorView::create},
    {"code", [] { return ViewTexts::tr("Code"); }, Qt::RightDockWidgetArea, nullptr, false, CodeDock::create},
    {"tasks", [] { return ViewTexts::tr("Tasks"); }, Qt::BottomDockWidgetArea, nullptr, false, TasksView::create},
    {"sessions", [] { return ViewTexts::tr("Sessions"); }, Qt::BottomDockWidgetArea, "tasks", false, SessionsView::create},
    {"jobs", [] { return ViewTexts::tr("Jobs"); }, Qt::BottomDockWidgetArea, "tasks", false, JobsView::create},
    {"log", [] { return ViewTexts::tr("Log"); }, Qt::BottomDockWidgetArea, "tasks", false, LogView::create},
    {"curve", [] { return ViewTexts::tr("Tuning curve"); }, Qt::BottomDockWidgetArea, nullptr, false, CurveView::create},
    {"network", [] { return ViewTexts::tr("Network"); }, Qt::BottomDockWidgetArea, "curve", false, NetworkView::create},
    {"landscape", [] { return ViewTexts::tr("Landscape"); }, Qt::BottomDockWidgetArea, "curve", false, LandscapeView::create},
    {"passes", [] { return ViewTexts::tr("Passes"); }, Qt::RightDockWidgetArea, "code", false, PassesView::create},
    {"why", [] { return ViewTexts::tr("Why"); }, Qt::RightDockWidgetArea, "code", false, WhyView::create},
    {"compare", [] { return ViewTexts::tr("Compare"); }, Qt::BottomDockWidgetArea, "curve", false, CompareView::create},
    {"trials", [] { return ViewTexts::tr("Trials"); }, Qt::BottomDockWidgetArea, nullptr, false, TrialsView::create},
};

}  // namespace

std::span<const ViewDef> views() { return kViews; }

}  // namespace tw::app
