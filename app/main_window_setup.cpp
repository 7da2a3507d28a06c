// SPDX-License-Identifier: GPL-3.0-or-later
// Actions, menus, docks and bars of the main window.
#include <QActionGroup>
#include <QApplication>
#include <QLabel>
#include <QMenuBar>
#include <QProgressBar>
#include <QSettings>
#include <QStatusBar>
#include <QToolBar>

#include "app/main_window.h"
#include "app/views/code_dock.h"
#include "app/views/graph_page.h"
#include "app/views/trials_view.h"
#include "app/views/tune_view.h"
#include "widgets/graph/graph_view.h"
#include "widgets/ir/code_view.h"
#include "widgets/theme/icons.h"

namespace tw::app {

void MainWindow::makeActions() {
  const auto id = [](const char* text) { return QString::fromLatin1(text); };
  m_actions.add(id("file.open"), tr("&Open model…"), tr("Open an ONNX model"), QKeySequence::Open, [this] { chooseFile(); });
  m_actions.add(id("file.start"), tr("Start &page"), tr("Show bundled networks and recent files"), QKeySequence(tr("Ctrl+Home")),
                [this] { m_pages->setCurrentIndex(0); });
  m_actions.add(id("file.workspace"), tr("Open &workspace…"), tr("Open or create the file that keeps all sessions"), QKeySequence(tr("Ctrl+Shift+O")),
                [this] { chooseWorkspace(); });
  m_actions.add(id("file.quit"), tr("&Quit"), tr("Close the workbench"), QKeySequence::Quit, [this] { close(); });
  makeTuneActions();
  makeViewActions();
  m_actions.add(id("help.manual"), tr("&Manual"), tr("Read the manual"), QKeySequence::HelpContents, [this] { showManual(); });
  m_actions.add(id("help.about"), tr("&About Tilewright"), tr("Version and licences"), {}, [this] { about(); });
}

void MainWindow::makeTuneActions() {
  const auto id = [](const char* text) { return QString::fromLatin1(text); };
  m_actions.add(id("tune.start"), tr("&Start"), tr("Start a tuning session"), QKeySequence(Qt::Key_F5), [this] { startTuning(); });
  m_actions.addToggle(id("tune.pause"), tr("&Pause"), tr("Pause or continue the session"), QKeySequence(tr("Shift+F5")),
                      [this](bool on) { m_tuning.setPaused(on); });
  m_actions.add(id("tune.cancel"), tr("S&top"), tr("Stop the session; everything measured is kept"), QKeySequence(tr("Ctrl+.")), [this] { m_tuning.cancel(); });
  m_actions.add(id("tune.task"), tr("Tune &this task"), tr("Start a session on the selected task only"), QKeySequence(tr("Ctrl+F5")), [this] {
    m_tuneView->setOnlySelectedTask(true);
    startTuning();
  });
  m_actions.add(id("trial.next"), tr("&Next trial"), tr("Select the next trial in the table"), QKeySequence(tr("Alt+Down")), [this] { m_trialsView->step(1); });
  m_actions.add(id("trial.previous"), tr("&Previous trial"), tr("Select the previous trial in the table"), QKeySequence(tr("Alt+Up")),
                [this] { m_trialsView->step(-1); });
  m_actions.add(id("trial.best"), tr("&Best trial"), tr("Select the fastest trial of this session"), QKeySequence(tr("Alt+Home")),
                [this] { m_trialsView->goToBest(); });
}

void MainWindow::makeViewActions() {
  const auto id = [](const char* text) { return QString::fromLatin1(text); };
  m_actions.add(id("graph.fit"), tr("&Fit graph"), tr("Show the whole graph"), QKeySequence(tr("Ctrl+9")), [this] { m_graph->view()->fit(); });
  m_actions.add(id("graph.zoomIn"), tr("Zoom &in"), tr("Enlarge the graph"), QKeySequence::ZoomIn, [this] { m_graph->view()->zoomBy(1.25); });
  m_actions.add(id("graph.zoomOut"), tr("Zoom &out"), tr("Shrink the graph"), QKeySequence::ZoomOut, [this] { m_graph->view()->zoomBy(0.8); });
  m_actions.add(id("graph.search"), tr("&Search graph"), tr("Search the graph"), QKeySequence(tr("Ctrl+G")), [this] { m_graph->startSearch(); });
  m_actions.add(id("code.find"), tr("Find in &code"), tr("Find text in the code columns"), QKeySequence::Find, [this] { m_codeDock->code()->startFind(); });
  m_actions.add(id("code.findNext"), tr("Find next"), tr("Find the next place"), QKeySequence::FindNext, [this] { m_codeDock->code()->findAgain(true); });
  m_actions.add(id("code.findPrevious"), tr("Find previous"), tr("Find the previous place"), QKeySequence::FindPrevious,
                [this] { m_codeDock->code()->findAgain(false); });
  m_actions.add(id("view.resetLayout"), tr("&Reset layout"), tr("Put all docks back"), {}, [this] { resetLayout(); });
  auto* group = new QActionGroup(this);
  const auto theme = [&](const char* name, const QString& text, const QString& help, widgets::ThemeChoice choice) {
    QAction* action = m_actions.add(id(name), text, help, {}, [this, choice] { setTheme(choice); });
    action->setCheckable(true);
    group->addAction(action);
  };
  theme("view.theme.system", tr("Theme of the &system"), tr("Light or dark as the desktop is"), widgets::ThemeChoice::system);
  theme("view.theme.light", tr("&Light theme"), tr("Light theme"), widgets::ThemeChoice::light);
  theme("view.theme.dark", tr("&Dark theme"), tr("Dark theme"), widgets::ThemeChoice::dark);
  const auto choice = widgets::themeChoiceFromName(QSettings().value(QStringLiteral("theme")).toString());
  m_actions.get(QStringLiteral("view.theme.") + QLatin1String(widgets::themeChoiceName(choice)))->setChecked(true);
}

void MainWindow::makeDocks() {
  for (const ViewDef& def : views()) {
    auto* dock = new QDockWidget(def.title(), this);
    dock->setObjectName(QStringLiteral("dock.") + QLatin1String(def.id));
    dock->setAccessibleName(def.title());
    QWidget* view = def.create(m_services, dock);
    view->setObjectName(QStringLiteral("view.") + QLatin1String(def.id));
    dock->setWidget(view);
    addDockWidget(def.area, dock);
    if (auto* tune = qobject_cast<TuneView*>(view)) m_tuneView = tune;
    if (auto* trials = qobject_cast<TrialsView*>(view)) m_trialsView = trials;
    if (auto* code = qobject_cast<CodeDock*>(view)) m_codeDock = code;
  }
}

void MainWindow::resetLayout() {
  setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
  setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  const auto dockOf = [this](const char* id) { return findChild<QDockWidget*>(QStringLiteral("dock.") + QLatin1String(id)); };
  QDockWidget* last = nullptr;
  for (const ViewDef& def : views()) {
    QDockWidget* dock = dockOf(def.id);
    dock->setFloating(false);
    dock->show();
    if (def.tabWith) continue;
    addDockWidget(def.area, dock);
    if (last && dockWidgetArea(last) == def.area) splitDockWidget(last, dock, def.below ? Qt::Vertical : Qt::Horizontal);
    last = dock;
  }
  // Tabs come last: splitting a dock that has tabs would only add another.
  for (const ViewDef& def : views()) {
    if (!def.tabWith) continue;
    addDockWidget(def.area, dockOf(def.id));
    tabifyDockWidget(dockOf(def.tabWith), dockOf(def.id));
  }
  dockOf("space")->raise();
  dockOf("tasks")->raise();
  dockOf("curve")->raise();
  const int w = width(), h = height();
  resizeDocks({dockOf("tune"), dockOf("code")}, {w * 19 / 100, w * 46 / 100}, Qt::Horizontal);
  resizeDocks({dockOf("tasks"), dockOf("curve"), dockOf("trials")}, {w * 48 / 100, w * 29 / 100, w * 23 / 100}, Qt::Horizontal);
  resizeDocks({dockOf("tasks")}, {h * 34 / 100}, Qt::Vertical);
  resizeDocks({dockOf("tune"), dockOf("space")}, {h * 33 / 100, h * 25 / 100}, Qt::Vertical);
}

void MainWindow::makeMenus() {
  const auto fill = [this](QMenu* menu, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (*name == '\0')
        menu->addSeparator();
      else
        menu->addAction(m_actions.get(QLatin1String(name)));
    }
    menu->setToolTipsVisible(true);
  };
  fill(menuBar()->addMenu(tr("&File")), {"file.open", "file.start", "", "file.workspace", "", "file.quit"});
  fill(menuBar()->addMenu(tr("&Tune")), {"tune.start", "tune.task", "tune.pause", "tune.cancel", "", "trial.best", "trial.next", "trial.previous"});
  QMenu* view = menuBar()->addMenu(tr("&View"));
  fill(view, {"graph.fit", "graph.zoomIn", "graph.zoomOut", "graph.search", "", "code.find", "code.findNext", "code.findPrevious", "", "view.theme.system",
              "view.theme.light", "view.theme.dark", ""});
  QMenu* docks = view->addMenu(tr("&Panels"));
  for (auto* dock : findChildren<QDockWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
    QAction* action = dock->toggleViewAction();
    action->setObjectName(QStringLiteral("action.view.") + dock->objectName());
    docks->addAction(action);
  }
  fill(view, {"view.resetLayout"});
  fill(menuBar()->addMenu(tr("&Help")), {"help.manual", "", "help.about"});
}

void MainWindow::makeToolBar() {
  QToolBar* bar = addToolBar(tr("Main"));
  bar->setObjectName(QStringLiteral("toolbar.main"));
  bar->setMovable(false);
  bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  for (const char* name : {"file.open", "tune.start", "tune.pause", "tune.cancel", "trial.best"}) bar->addAction(m_actions.get(QLatin1String(name)));
  bar->insertSeparator(m_actions.get(QStringLiteral("tune.start")));
  bar->insertSeparator(m_actions.get(QStringLiteral("trial.best")));
  bar->addSeparator();
  m_crumb = new QLabel(bar);
  m_crumb->setObjectName(QStringLiteral("label.crumb"));
  m_crumb->setTextFormat(Qt::PlainText);
  m_crumb->setContentsMargins(8, 0, 8, 0);
  bar->addWidget(m_crumb);
  widgets::setActionIcons(m_actions.all(), widgets::themeOf(this));
}

void MainWindow::makeStatusBar() {
  m_busy = new QProgressBar(this);
  m_busy->setRange(0, 0);
  m_busy->setMaximumWidth(140);
  m_busy->hide();
  m_workspaceLabel = new QLabel(this);
  m_workspaceLabel->setTextFormat(Qt::PlainText);
  statusBar()->addPermanentWidget(m_busy);
  statusBar()->addPermanentWidget(m_workspaceLabel);
}

void MainWindow::setTheme(widgets::ThemeChoice choice) {
  QSettings().setValue(QStringLiteral("theme"), QLatin1String(widgets::themeChoiceName(choice)));
  m_actions.get(QStringLiteral("view.theme.") + QLatin1String(widgets::themeChoiceName(choice)))->setChecked(true);
  widgets::applyTheme(choice);
  widgets::setActionIcons(m_actions.all(), widgets::themeOf(QApplication::palette()));
}

void MainWindow::updateActions() {
  const bool model = m_hub.model() != nullptr, active = m_tuning.isActive();
  const QString noModel = tr("open a model first");
  QString why;
  if (!model)
    why = noModel;
  else if (active)
    why = tr("a session is running");
  else if (m_hub.model()->tasks.empty())
    why = tr("this model has no tasks");
  else if (!m_workspace.database())
    why = tr("no workspace is open");
  else if (!m_workspace.isWritable())
    why = tr("the workspace is open for reading only");
  else if (!m_hub.model()->id)
    why = tr("the model is not in the workspace yet; open it again");
  m_actions.setEnabled(QStringLiteral("tune.start"), why.isEmpty(), why);
  m_actions.setEnabled(QStringLiteral("tune.task"), why.isEmpty() && m_hub.task() >= 0, why.isEmpty() ? tr("select a task first") : why);
  const bool stopping = m_tuning.state() == TuneService::State::stopping;
  m_actions.setEnabled(QStringLiteral("tune.pause"), active && !stopping, tr("no session is running"));
  m_actions.setEnabled(QStringLiteral("tune.cancel"), active && !stopping, stopping ? tr("it is stopping already") : tr("no session is running"));
  if (!active) {
    const QSignalBlocker quiet(m_actions.get(QStringLiteral("tune.pause")));
    m_actions.get(QStringLiteral("tune.pause"))->setChecked(false);
  }
  for (const char* name : {"trial.next", "trial.previous", "trial.best"})
    m_actions.setEnabled(QLatin1String(name), m_trials.store() != nullptr, tr("no trials are shown"));
  for (const char* name : {"graph.fit", "graph.zoomIn", "graph.zoomOut", "graph.search"}) m_actions.setEnabled(QLatin1String(name), model, noModel);
  for (const char* name : {"code.find", "code.findNext", "code.findPrevious"}) m_actions.setEnabled(QLatin1String(name), model, noModel);
}

}  // namespace tw::app
