// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>
#include <QPointer>
#include <functional>
#include <memory>
#include <optional>

#include "app/action_registry.h"
#include "app/perspectives.h"
#include "app/selection_hub.h"
#include "app/services/build_service.h"
#include "app/services/campaign_service.h"
#include "app/services/engine.h"
#include "app/services/explain_service.h"
#include "app/services/farm_service.h"
#include "app/services/import_service.h"
#include "app/services/job_board.h"
#include "app/services/job_feeds.h"
#include "app/services/job_runner.h"
#include "app/services/lesson_service.h"
#include "app/services/mark_service.h"
#include "app/services/model_service.h"
#include "app/services/finals_service.h"
#include "app/services/pass_cost_service.h"
#include "app/services/race_service.h"
#include "app/services/task_board.h"
#include "app/services/trial_service.h"
#include "app/services/tune_service.h"
#include "app/services/workspace.h"
#include "app/views/sizes_dialog.h"
#include "app/views/view.h"
#include "widgets/theme/theme.h"

class QLabel;
class QProgressBar;
class QDockWidget;
class QTabBar;
class QToolBar;

namespace tw::widgets {
class Banner;
}

namespace tw::app {

class CodeDock;
class CommandBox;
class DockTitles;
class Glossary;
class GraphPage;
class LessonDesk;
class ManualWindow;
class PassesView;
class PlaybackBar;
class RunBar;
class SessionsView;
class StartPage;
class TasksView;
class TrialsView;
class TuneView;

/// The workbench's window. Owns the services; views get them through `Services` and talk to each other only through the SelectionHub.
class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(Engine& engine, QWidget* parent = nullptr);
  ~MainWindow() override;

  void openWorkspace(const QString& path);
  /// Whether a file is a workspace or a bundle of sessions by its ending.
  static bool isWorkspace(const QString& path);
  /// One of those, else a model or an operator.
  void openAny(const QString& path);
  void openFile(const QString& path);
  void openZoo(const QString& name, bool tiny);
  /// A campaign file, whose workspace lies beside it, or a workspace or bundle with a campaign.
  void openCampaign(const QString& path);
  /// Starts a session with what the controls say.
  void startTuning();
  void setTheme(widgets::ThemeChoice choice);
  /// From its first page, or at what it says of a view.
  void showManual(const QString& view = {});
  /// The manual's glossary, at one of its words.
  void showWord(const QString& word);
  /// Puts the views of the current perspective where a new user finds them.
  void resetLayout();
  /// Arranges the views as they were left in this perspective, by its id.
  void setPerspective(const QString& id);
  const QString& perspective() const { return m_perspective; }
  void setBigType(bool big);
  /// Brings a view to the front, wherever it is.
  void raiseView(const char* view);
  /// What networks are opened for from now on; the open one stays as it is.
  void setTarget(const Target& target);
  /// The lessons beside the work: their list, or the one that runs.
  void showLessons(bool show);
  /// At a step by number from 1 or name; empty: where it was left. What is wrong with the names is shown.
  void startLesson(const QString& name, const QString& step);
  LessonService& lessons() { return m_lessons; }
  Services& services() { return m_services; }
  /// Opens the command box with `text` in its line.
  void openCommandBox(const QString& text = {});
  /// The view that was last worked in: a dock's, or the graph.
  QWidget* currentView() const;
  /// Writes the current view as `.png`, `.svg` or `.csv`, or the report of the selected session as `.html`; failures are shown.
  void exportCurrentView(const QString& path);
  void exportReport(const QString& path);
  /// The selected trial with its code, and the compared sessions against each other, as web pages.
  void exportTrial(const QString& path);
  void exportComparison(const QString& path);
  /// The campaign that is shown.
  void exportCampaign(const QString& path);
  /// Writes the sessions as a bundle.
  void packSessions(const std::vector<SessionId>& sessions, const QString& path);
  /// A second copy of the current view that keeps showing what is selected now.
  void pinCurrentView();

  SelectionHub& hub() { return m_hub; }
  ActionRegistry& actions() { return m_actions; }
  TuneService& tuning() { return m_tuning; }
  RaceService& race() { return m_race; }
  FarmService& farms() { return m_farms; }
  CampaignService& campaigns() { return m_campaigns; }
  Workspace& workspace() { return m_workspace; }
  FinalsService& finals() { return m_finals; }
  PassCostService& passCosts() { return m_passCosts; }
  BuildService& build() { return m_build; }
  TrialService& trials() { return m_trials; }
  ExplainService& explaining() { return m_explain; }
  ModelService& models() { return m_models; }
  ImportService& importing() { return m_import; }
  JobBoard& jobBoard() { return m_board; }
  TuneView& tuneView() { return *m_tuneView; }
  GraphPage& graphPage() { return *m_graph; }
  CodeDock& codeDock() { return *m_codeDock; }
  CommandBox& commandBox() { return *m_commands; }
  MarkService& marks() { return m_marks; }
  enum class QuitChoice { stay, stop, background };
  /// Answers the question on closing while tuning or with a text that is not saved; tests and scripts replace it. `background` hides the window until the
  /// session is done.
  std::function<QuitChoice()> askQuit;

 protected:
  void closeEvent(QCloseEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  /// Tab goes as people read, not as docks and their contents were made.
  bool focusNextPrevChild(bool next) override;
  bool eventFilter(QObject* watched, QEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void makeActions();
  void makeFileActions();
  void makeEditActions();
  void makeGoActions();
  void makeTuneActions();
  void makeSessionActions();
  void makeViewActions();
  void makeCommandBox();
  void setConditions();
  void makeDocks();
  void fillRecent();
  QDockWidget* dockOf(const QString& view) const;
  void makeHeader();
  /// The start page in place of the whole frame, or the frame.
  void showStart(bool start);
  /// The docks of a perspective at their places of a new user.
  void arrange(const QString& perspective);
  /// As it was left in a window about as wide, else as a new user has it.
  void loadPerspective(const QString& id);
  void savePerspective();
  QString perspectiveKey(const QString& id) const;
  /// What the window has room for now, in its perspective.
  FrameFit frameFit() const;
  void toggleDrawer();
  void placeBanner();
  QList<QWidget*> tabOrder();
  QString viewUnderPointer() const;
  void makeMenus();
  void makeRunBar();
  void makeLessons();
  /// As parse_target() reads it; empty: asks. The network on screen is opened anew for it.
  void chooseTarget(const QString& text);
  /// Networks are opened for the target from now on, unless what `open` begins comes to nothing.
  void openFor(const Target& target, const std::function<void()>& open);
  /// That of the network on screen, where another one was chosen.
  void showTarget();
  /// What was being opened will not be: nothing waits for it, and what is on screen stays with its target.
  void dropOpening();
  void showDevice();
  void pin(QDockWidget* dock);
  void makeStatusBar();
  void connectServices();
  void updateActions();
  /// The selected session, or else the newest that was interrupted, if it can go on; null otherwise.
  const db::SessionRow* resumable() const;
  /// Opens the session's model first where that is not on screen.
  void resumeSession();
  void offerRecovery();
  /// Says what to do first with a network that was never tuned.
  void offerTuning();
  /// Says what a session brought and leads to the reasons and the code.
  void showOutcome(const QString& summary);
  /// After a session over all tasks that measured.
  void tryInNetwork();
  void showFinals(const OpenModelPtr& model, const api::NetworkFinals& finals);
  void chooseRace();
  void showRace();
  void closeModel();
  /// Runs `then` with the model on screen, for the target if one is given: at once, or when it has been opened.
  void withModel(ModelId model, const std::string& target, std::function<void()> then);
  /// Says how many rows of the workspace are damaged.
  void showDamage();
  /// Leaves what holds as long as the workspace is open: that it can only be read, or that rows are damaged.
  void clearBanner();
  /// Its graph first, then the model as a whole.
  void showModel(const OpenModelPtr& model);
  void chooseFile();
  void chooseLog();
  void importLog(const QString& path);
  void showPreferences();
  void askForSizes(const QString& path, const std::vector<frontends::OpenSize>& sizes, const Sizes& known);
  void showImported(const logs::ImportedLog& log);
  void newWorkspace();
  void chooseWorkspace();
  void chooseExport();
  void chooseBuildFile();
  void chooseCodeFolder();
  void chooseReport();
  void chooseTrialPage();
  void chooseComparisonPage();
  void chooseCampaign();
  void chooseCampaignPage();
  void showCampaigns();
  /// Opens the model of the trial for the target that it ran on, which is that of the window then.
  void showCampaignTrial(const logs::TrialPlace& trial);
  /// Makes a page away from the window and writes it; failures are shown.
  void writePage(const QString& path, std::function<Expected<std::string>(db::Database&, StopToken)> make);
  /// Asks for the file of a page; empty if the user wants none.
  QString askForPage(const QString& title, const QString& name);
  void chooseBundle();
  void copyCurrentView();
  void showTable();
  /// The first trial put side by side and the next one of its task.
  std::optional<std::pair<TrialRef, TrialRef>> traysPair() const;
  /// Shows how the code of the second of them differs.
  void compareTray();
  /// Sessions of the network that playback is asked for: those selected in the list, else the one that is shown.
  std::vector<SessionId> playable() const;
  void showShortcuts();
  void showMessage(const QString& error);
  void addRecent(const QString& path);
  bool hasUnsavedText() const;
  void restore();
  void save();
  void about();

  ActionRegistry m_actions;
  SelectionHub m_hub;
  JobRunner m_jobs;
  Workspace m_workspace;
  ModelService m_models;
  TuneService m_tuning;
  RaceService m_race;
  TrialService m_trials;
  ExplainService m_explain;
  TaskBoard m_tasks;
  MarkService m_marks;
  JobBoard m_board;
  FinalsService m_finals;
  BuildService m_build;
  PassCostService m_passCosts;
  ImportService m_import;
  JobFeeds m_feeds;
  FarmService m_farms;
  CampaignService m_campaigns;
  LessonService m_lessons;
  Services m_services;
  LessonDesk* m_lessonDesk = nullptr;
  QToolBar* m_lessonBar = nullptr;
  widgets::Banner* m_banner = nullptr;
  DockTitles* m_titles = nullptr;
  RunBar* m_runBar = nullptr;
  PlaybackBar* m_playbackBar = nullptr;
  QTabBar* m_perspectiveTabs = nullptr;
  StartPage* m_start = nullptr;
  GraphPage* m_graph = nullptr;
  TuneView* m_tuneView = nullptr;
  TasksView* m_tasksView = nullptr;
  TrialsView* m_trialsView = nullptr;
  SessionsView* m_sessionsView = nullptr;
  CodeDock* m_codeDock = nullptr;
  PassesView* m_passesView = nullptr;
  ManualWindow* m_manual = nullptr;
  Glossary* m_glossary = nullptr;
  CommandBox* m_commands = nullptr;
  QMenu* m_recentMenu = nullptr;
  QLabel *m_crumb = nullptr, *m_workspaceLabel = nullptr, *m_device = nullptr;
  QProgressBar* m_busy = nullptr;
  QString m_busyWith, m_perspective, m_offer, m_openingText, m_upgradeText;
  QPointer<QWidget> m_currentView;
  LatestJob m_reportJob;
  int m_pinned = 0;
  int m_drawerHeight = 0;  ///< as it was when it was closed, 0 before that
  bool m_isStart = true;
  FrameFit m_fit;  ///< of the arrangement that is shown
  bool m_isBig = false;  ///< letters
  std::pair<ModelId, std::function<void()>> m_whenOpen;  ///< no id: whatever is opened
  std::optional<Target> m_targetBefore;  ///< while a network is opened for another one
  bool m_closeWhenIdle = false, m_lookForInterrupted = false;
};

}  // namespace tw::app
