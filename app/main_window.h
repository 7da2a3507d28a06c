// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>
#include <memory>

#include "app/action_registry.h"
#include "app/selection_hub.h"
#include "app/services/engine.h"
#include "app/services/explain_service.h"
#include "app/services/job_runner.h"
#include "app/services/model_service.h"
#include "app/services/task_board.h"
#include "app/services/trial_service.h"
#include "app/services/tune_service.h"
#include "app/services/workspace.h"
#include "app/views/view.h"
#include "widgets/theme/theme.h"

class QLabel;
class QProgressBar;
class QStackedWidget;

namespace tw::widgets {
class Banner;
}

namespace tw::app {

class CodeDock;
class GraphPage;
class ManualWindow;
class StartPage;
class TrialsView;
class TuneView;

/// The workbench's window. Owns the services; views get them through `Services` and talk to each other only through the SelectionHub.
class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(Engine& engine, QWidget* parent = nullptr);
  ~MainWindow() override;

  void openWorkspace(const QString& path);
  void openFile(const QString& path);
  void openZoo(const QString& name, bool tiny);
  /// Starts a session with what the controls say.
  void startTuning();
  void setTheme(widgets::ThemeChoice choice);
  void showManual();
  /// Puts the docks where a new user finds them.
  void resetLayout();

  SelectionHub& hub() { return m_hub; }
  ActionRegistry& actions() { return m_actions; }
  TuneService& tuning() { return m_tuning; }
  Workspace& workspace() { return m_workspace; }
  TrialService& trials() { return m_trials; }
  ExplainService& explaining() { return m_explain; }
  ModelService& models() { return m_models; }
  TuneView& tuneView() { return *m_tuneView; }
  GraphPage& graphPage() { return *m_graph; }
  CodeDock& codeDock() { return *m_codeDock; }
  /// Answers the question on closing while tuning; tests and scripts replace it. True: stop and close.
  std::function<bool()> confirmStop;

 protected:
  void closeEvent(QCloseEvent* event) override;
  void changeEvent(QEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void makeActions();
  void makeTuneActions();
  void makeViewActions();
  void makeDocks();
  void makeMenus();
  void makeToolBar();
  void makeStatusBar();
  void connectServices();
  void updateActions();
  void showModel(const OpenModelPtr& model);
  void chooseFile();
  void chooseWorkspace();
  void addRecent(const QString& path);
  void restore();
  void save();
  void about();

  ActionRegistry m_actions;
  SelectionHub m_hub;
  JobRunner m_jobs;
  Workspace m_workspace;
  ModelService m_models;
  TuneService m_tuning;
  TrialService m_trials;
  ExplainService m_explain;
  TaskBoard m_tasks;
  Services m_services;
  widgets::Banner* m_banner = nullptr;
  QStackedWidget* m_pages = nullptr;
  StartPage* m_start = nullptr;
  GraphPage* m_graph = nullptr;
  TuneView* m_tuneView = nullptr;
  TrialsView* m_trialsView = nullptr;
  CodeDock* m_codeDock = nullptr;
  ManualWindow* m_manual = nullptr;
  QLabel *m_crumb = nullptr, *m_workspaceLabel = nullptr;
  QProgressBar* m_busy = nullptr;
  QString m_busyWith;
  bool m_closeWhenIdle = false;
};

}  // namespace tw::app
