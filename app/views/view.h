// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDockWidget>
#include <QString>
#include <span>

namespace tw::app {

class ActionRegistry;
class BuildService;
class CampaignService;
class Engine;
class ExplainService;
class FarmService;
class FinalsService;
class ImportService;
class JobBoard;
class JobRunner;
class MarkService;
class PassCostService;
class ModelService;
class RaceService;
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
  BuildService& build;
  PassCostService& passCosts;
  RaceService& race;
  FarmService& farms;
  CampaignService& campaigns;
};

/// One row of the table of docked views.
struct ViewDef {
  const char* id;  ///< stable; the dock is `dock.<id>`, its action `view.dock.<id>`; perspectives.cpp says where it stands
  QString (*title)();
  bool canPin;     ///< a second copy can keep another selection
  QWidget* (*create)(Services&, QWidget* parent);
};

/// All docked views; views_table.cpp.
std::span<const ViewDef> views();

}  // namespace tw::app
