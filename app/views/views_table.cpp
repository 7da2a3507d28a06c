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
#include "app/views/sessions_view.h"
#include "app/views/space_view.h"
#include "app/views/tasks_view.h"
#include "app/views/trials_view.h"
#include "app/views/tune_view.h"
#include "app/views/view.h"
#include "app/views/why_view.h"

namespace tw::app {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Views", text); }

const ViewDef kViews[] = {
    {"tune", [] { return tr("Tune"); }, Qt::LeftDockWidgetArea, nullptr, false, TuneView::create},
    {"navigator", [] { return tr("Navigator"); }, Qt::LeftDockWidgetArea, "tune", false, NavigatorView::create},
    {"space", [] { return tr("Space"); }, Qt::LeftDockWidgetArea, nullptr, true, SpaceView::create},
    {"inspector", [] { return tr("Inspector"); }, Qt::LeftDockWidgetArea, "space", true, InspectorView::create},
    {"code", [] { return tr("Code"); }, Qt::RightDockWidgetArea, nullptr, false, CodeDock::create},
    {"tasks", [] { return tr("Tasks"); }, Qt::BottomDockWidgetArea, nullptr, false, TasksView::create},
    {"sessions", [] { return tr("Sessions"); }, Qt::BottomDockWidgetArea, "tasks", false, SessionsView::create},
    {"jobs", [] { return tr("Jobs"); }, Qt::BottomDockWidgetArea, "tasks", false, JobsView::create},
    {"log", [] { return tr("Log"); }, Qt::BottomDockWidgetArea, "tasks", false, LogView::create},
    {"curve", [] { return tr("Tuning curve"); }, Qt::BottomDockWidgetArea, nullptr, false, CurveView::create},
    {"landscape", [] { return tr("Landscape"); }, Qt::BottomDockWidgetArea, "curve", false, LandscapeView::create},
    {"why", [] { return tr("Why"); }, Qt::RightDockWidgetArea, "code", false, WhyView::create},
    {"compare", [] { return tr("Compare"); }, Qt::BottomDockWidgetArea, "curve", false, CompareView::create},
    {"trials", [] { return tr("Trials"); }, Qt::BottomDockWidgetArea, nullptr, false, TrialsView::create},
};

}  // namespace

std::span<const ViewDef> views() { return kViews; }

}  // namespace tw::app
