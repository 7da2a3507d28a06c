// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDockWidget>
#include <QString>
#include <span>

namespace tw::app {

class ActionRegistry;
class Engine;
class ExplainService;
class FinalsService;
class ImportService;
class JobBoard;
class JobRunner;
class MarkService;
class ModelService;
class SelectionHub;
class TaskBoard;
class TrialService;
class TuneService;
class Workspace;

/// What views are made from. All live longer than any view.
struct Services {
  Engine& engine;
  JobRunner& jobs;
  SelectionHub& hub;
  Workspace& workspace;
  ModelService& models;
  TuneService& tuning;
  TrialService& trials;
  ExplainService& explain;
  TaskBoard& tasks;
  ActionRegistry& actions;
  MarkService& marks;
  JobBoard& board;
  ImportService& importing;
  FinalsService& finals;
};

/// One row of the table of docked views.
struct ViewDef {
  const char* id;  ///< stable; the dock is `dock.<id>`, its action `view.dock.<id>`
  QString (*title)();
  Qt::DockWidgetArea area;
  const char* tabWith;  ///< id of an earlier view whose dock it shares as a tab, or null
  bool below;           ///< in a side area: under the view before it
  QWidget* (*create)(Services&, QWidget* parent);
};

/// All docked views in the order of the default layout; views_table.cpp.
std::span<const ViewDef> views();

}  // namespace tw::app
