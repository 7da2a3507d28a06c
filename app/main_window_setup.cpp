// SPDX-License-Identifier: GPL-3.0-or-later
// Actions, menus, docks and bars of the main window.
#include <QActionGroup>
#include <QApplication>
#include <QFileInfo>
#include <QInputDialog>
#include <QLabel>
#include <QMenuBar>
#include <QProgressBar>
#include <QSettings>
#include <QStatusBar>
#include <QToolBar>
#include <algorithm>

#include "app/command_box.h"
#include "app/glossary.h"
#include "app/lesson_desk.h"
#include "app/main_window.h"
#include "app/menus.h"
#include "app/perspectives.h"
#include "app/playback_bar.h"
#include "app/run_bar.h"
#include "app/services/session_set.h"
#include "app/views/code_dock.h"
#include "app/views/graph_page.h"
#include "app/views/lessons_view.h"
#include "app/views/passes_view.h"
#include "app/views/sessions_view.h"
#include "app/views/start_page.h"
#include "app/views/trials_view.h"
#include "app/views/tune_view.h"
#include "engine/base/json.h"
#include "engine/measure/device.h"
#include "widgets/common/banner.h"
#include "widgets/common/elided_label.h"
#include "widgets/graph/graph_view.h"
#include "widgets/ir/code_view.h"
#include "widgets/theme/icons.h"

namespace tw::app {
namespace {
QString id(const char* text) { return QString::fromLatin1(text); }
}  // namespace

void MainWindow::makeActions() {
  makeFileActions();
  makeEditActions();
  makeViewActions();
  makeGoActions();
  makeTuneActions();
  makeSessionActions();
  m_actions.add(id("help.manual"), tr("&Manual"), tr("Read the manual, at the word or the view under the pointer"), QKeySequence::HelpContents, [this] {
    const auto words = m_glossary->wordsUnderPointer();
    if (words.empty()) return showManual(viewUnderPointer());
    showWord(words.front().word);
  });
  m_actions.addToggle(id("help.lessons"), tr("&Lessons"), tr("Learn in the window: lessons that set it up, say what to do and see whether it is done"), QKeySequence(tr("Ctrl+Shift+L")),
                      [this](bool on) { showLessons(on); });
  m_actions.add(id("help.shortcuts"), tr("Actions and &shortcuts"), tr("List all actions with their shortcuts"), QKeySequence(tr("?")),
                [this] { showShortcuts(); });
  m_actions.add(id("help.about"), tr("&About Tilewright"), tr("Version and licences"), {}, [this] { about(); });
  setConditions();
}

void MainWindow::makeFileActions() {
  m_actions.add(id("file.open"), tr("&Open…"), tr("Open an ONNX model, a program exported by PyTorch, a computation of one's own or a workspace"), QKeySequence::Open, [this] { chooseFile(); });
  m_actions.add(id("file.import"), tr("&Import log…"), tr("Import trials that AutoTVM or Ansor logged"), QKeySequence(tr("Ctrl+I")), [this] { chooseLog(); });
  m_actions.add(id("file.campaign"), tr("Open campai&gn…"), tr("Open a campaign file, or a workspace or bundle with a campaign: how operators' speed follows from their resources"), QKeySequence(tr("Ctrl+Alt+C")),
                [this] { chooseCampaign(); });
  m_actions.add(id("file.sizes"), tr("Batch and si&zes…"), tr("Open the model with another batch, or with others of the sizes that it leaves open"), QKeySequence(tr("Ctrl+Shift+I")),
                [this] { m_models.askSizes(m_hub.model()->path); });
  m_actions.add(id("file.operator"), tr("Own oper&ator…"), tr("Write a computation and a template for it, see its loops, and tune it"), QKeySequence(tr("Ctrl+Alt+O")), [this] {
    showStart(false);
    setPerspective(QStringLiteral("code"));
    raiseView("operator");
  });
  m_actions.add(id("file.start"), tr("Start &page"), tr("Show bundled networks and recent files"), QKeySequence(tr("Ctrl+Alt+Home")),
                [this] { showStart(true); });
  m_actions.add(id("file.newWorkspace"), tr("&New workspace…"), tr("Create an empty file that keeps sessions"), QKeySequence::New, [this] { newWorkspace(); });
  m_actions.add(id("file.workspace"), tr("Open &workspace…"), tr("Open another file that keeps sessions, or create it"), QKeySequence(tr("Ctrl+Shift+O")),
                [this] { chooseWorkspace(); });
  m_actions.add(id("file.exportView"), tr("&Export view…"), tr("Write the view last clicked into as a picture, as vectors or as a table"),
                QKeySequence(tr("Ctrl+E")), [this] { chooseExport(); });
  m_actions.add(id("file.exportReport"), tr("Expor&t report…"), tr("Write the selected session, or the newest one, as a web page of its own"), QKeySequence(tr("Ctrl+Shift+E")),
                [this] { chooseReport(); });
  m_actions.add(id("file.exportTrial"), tr("Export tria&l…"), tr("Write the selected trial with its times, choices, steps and code as a web page of its own"), QKeySequence(tr("Ctrl+Alt+T")),
                [this] { chooseTrialPage(); });
  m_actions.add(id("file.exportCampaign"), tr("E&xport campaign…"), tr("Write the campaign that is shown as a web page of its own: sentences, tables and curves"), QKeySequence(tr("Ctrl+Alt+G")),
                [this] { chooseCampaignPage(); });
  m_actions.add(id("file.exportComparison"), tr("Export co&mparison…"), tr("Write the sessions that are compared, such as those of a race, as a web page of its own: answer, tables and curves"), QKeySequence(tr("Ctrl+Alt+M")),
                [this] { chooseComparisonPage(); });
  m_actions.add(id("file.close"), tr("&Close model"), tr("Close the model and show the start page; its sessions stay in the workspace"),
                QKeySequence(tr("Ctrl+W")), [this] { closeModel(); });
  m_actions.add(id("file.quit"), tr("&Quit"), tr("Close the workbench"), QKeySequence::Quit, [this] { close(); });
}

void MainWindow::makeEditActions() {
  m_actions.add(id("edit.undo"), tr("&Undo"), tr("Undo the last change of a filter, a note, or what is put side by side or compared"), QKeySequence::Undo,
                [this] { m_hub.undoStack().undo(); });
  m_actions.add(id("edit.redo"), tr("&Redo"), tr("Do again what was undone"), QKeySequence(tr("Ctrl+Shift+Z")), [this] { m_hub.undoStack().redo(); });
  m_actions.addShortcut(id("edit.redo"), QKeySequence(tr("Ctrl+Y")));
  m_actions.add(id("edit.copyView"), tr("Copy &view"), tr("Copy the view last clicked into as a picture and as a table"), QKeySequence(tr("Ctrl+Shift+C")),
                [this] { copyCurrentView(); });
  m_actions.add(id("edit.preferences"), tr("Pr&eferences…"), tr("Theme, size of letters, where sessions are kept"), QKeySequence(tr("Ctrl+,")),
                [this] { showPreferences(); });
  m_actions.add(id("code.find"), tr("Find in &code"), tr("Find text in the code columns"), QKeySequence::Find, [this] { m_codeDock->code()->startFind(); });
  m_actions.add(id("code.findNext"), tr("Find &next"), tr("Find the next place"), QKeySequence::FindNext, [this] { m_codeDock->code()->findAgain(true); });
  m_actions.add(id("code.findPrevious"), tr("Find &previous"), tr("Find the previous place"), QKeySequence::FindPrevious,
                [this] { m_codeDock->code()->findAgain(false); });
  m_actions.add(id("code.keepBase"), tr("&Keep as base of differences"), tr("Compare the code of what is selected next with that of the selected trial"),
                QKeySequence(tr("Ctrl+D")), [this] { m_codeDock->keepAsBase(); });
  m_actions.add(id("code.compareTray"), tr("Co&mpare code side by side"),
                tr("Show how the code of the second trial put side by side differs from that of the first"), QKeySequence(tr("Ctrl+Alt+D")),
                [this] { compareTray(); });
  m_actions.add(id("code.noBase"), tr("No &difference"), tr("Show the code alone again"), QKeySequence(tr("Ctrl+Shift+D")), [this] { m_hub.setCodeBase({}); });
  m_actions.add(id("code.nextChange"), tr("Ne&xt change"), tr("Go to the next change of the code's difference"), QKeySequence(tr("F8")),
                [this] { m_codeDock->code()->stepChange(true); });
  m_actions.add(id("code.previousChange"), tr("Previous c&hange"), tr("Go to the previous change of the code's difference"), QKeySequence(tr("Shift+F8")),
                [this] { m_codeDock->code()->stepChange(false); });
  m_actions.add(id("graph.search"), tr("&Search graph"), tr("Search the graph"), QKeySequence(tr("Ctrl+G")), [this] { m_graph->startSearch(); });
}

void MainWindow::makeGoActions() {
  m_actions.add(id("go.commands"), tr("&Command box…"), tr("Find and run any action, task, loop or line by its name"), QKeySequence(tr("Ctrl+K")),
                [this] { openCommandBox(); });
  m_actions.addShortcut(id("go.commands"), QKeySequence(tr("Ctrl+Shift+P")));
  m_actions.add(id("go.back"), tr("&Back"), tr("Select what was selected before"), QKeySequence(tr("Alt+Left")), [this] { m_hub.back(); });
  m_actions.add(id("go.forward"), tr("&Forward"), tr("Select what was selected before going back"), QKeySequence(tr("Alt+Right")), [this] { m_hub.forward(); });
  m_actions.add(id("trial.next"), tr("&Next trial"), tr("Select the next trial in the table"), QKeySequence(tr(".")), [this] { m_trialsView->step(1); });
  m_actions.addShortcut(id("trial.next"), QKeySequence(tr("Alt+Down")));
  m_actions.add(id("trial.previous"), tr("&Previous trial"), tr("Select the previous trial in the table"), QKeySequence(tr(",")),
                [this] { m_trialsView->step(-1); });
  m_actions.addShortcut(id("trial.previous"), QKeySequence(tr("Alt+Up")));
  m_actions.add(id("pass.next"), tr("Next p&ass"), tr("Choose the next pass"), QKeySequence(tr("]")), [this] { m_passesView->step(1); });
  m_actions.add(id("pass.previous"), tr("Previous pa&ss"), tr("Choose the previous pass"), QKeySequence(tr("[")), [this] { m_passesView->step(-1); });
  m_actions.add(id("trial.best"), tr("Best &trial"), tr("Select the fastest trial of the task, or of the one session that is shown"), QKeySequence(tr("Alt+Home")),
                [this] { m_trialsView->goToBest(); });
  const auto explain = [this](const char* view) {
    if (m_hub.trial() < 0) m_trialsView->goToBest();
    raiseView(view);
  };
  m_actions.add(id("trial.why"), tr("&Why is this fast?"), tr("Explain the selected trial, or the best one: roofs, footprints, rules"),
                QKeySequence(tr("Alt+Return")), [explain] { explain("why"); });
  m_actions.add(id("trial.code"), tr("See the co&de"), tr("Show every form of the selected trial's code, or of the best one's"),
                QKeySequence(tr("Alt+Shift+Return")), [explain] { explain("code"); });
}

void MainWindow::makeTuneActions() {
  m_actions.add(id("tune.start"), tr("&Start"), tr("Start a tuning session"), QKeySequence(Qt::Key_F5), [this] { startTuning(); });
  m_actions.add(id("tune.task"), tr("Tune t&his task"), tr("Start a session on the selected task only"), QKeySequence(tr("Ctrl+F5")), [this] {
    m_tuneView->setOnlySelectedTask(true);
    startTuning();
  });
  m_actions.add(id("tune.resume"), tr("&Resume session"), tr("Go on with the selected session, or with the newest that was interrupted"),
                QKeySequence(tr("Ctrl+Shift+F5")), [this] { resumeSession(); });
  m_actions.add(id("tune.race"), tr("Ra&ce of tuners…"), tr("Run several tuners with several seeds and compare what they find"), QKeySequence(tr("Ctrl+R")),
                [this] { chooseRace(); });
  m_actions.add(id("campaign.run"), tr("Run campa&ign"), tr("Measure what is not done of the open campaign file; one that was stopped goes on"), QKeySequence(tr("Ctrl+Alt+F5")), [this] {
    showCampaigns();
    m_campaigns.run();
  });
  m_actions.add(id("campaign.stop"), tr("Stop c&ampaign"), tr("Stop the campaign; everything measured is kept, and it goes on where it was"), QKeySequence(tr("Ctrl+Alt+.")), [this] { m_campaigns.stop(); });
  for (const auto& [name, text] : {std::pair("file.campaign", tr("Open…")), std::pair("file.exportCampaign", tr("Export…")), std::pair("campaign.run", tr("Run")), std::pair("campaign.stop", tr("Stop"))})
    m_actions.get(id(name))->setIconText(text);  // in the view, which says of what
  m_actions.add(id("tune.finals"), tr("Try in the &network"),
                tr("Run the whole network with the best schedules against the default ones; what does not hold there is not compiled"), QKeySequence(tr("Ctrl+Shift+R")),
                [this] { m_finals.start(m_hub.model(), std::nullopt); });
  m_actions.add(id("build.network"), tr("&Build network"), tr("Compile the network from the best record of every task"), QKeySequence(tr("Ctrl+B")), [this] {
    raiseView("build");
    m_build.build(m_hub.model());
  });
  m_actions.add(id("build.run"), tr("R&un built network"), tr("Run what was built, compare its results with the reference, and time every kernel in its place"), QKeySequence(tr("Ctrl+Alt+R")), [this] {
    raiseView("build");
    m_build.run();
  });
  m_actions.add(id("build.save"), tr("Sa&ve built network…"), tr("Write what was built as one file, which tw run and C++ programs run"), QKeySequence::Save, [this] { chooseBuildFile(); });
  m_actions.add(id("build.export"), tr("Export c&ode…"), tr("Write what was built as objects, a header and one C file; for a GPU its machine code"), QKeySequence(tr("Ctrl+Alt+S")),
                [this] { chooseCodeFolder(); });
  m_actions.addToggle(id("tune.pause"), tr("&Pause"), tr("Pause or continue the session"), QKeySequence(tr("Shift+F5")),
                      [this](bool on) { m_tuning.setPaused(on); });
  m_actions.add(id("tune.cancel"), tr("S&top"), tr("Stop the session; everything measured is kept"), QKeySequence(tr("Ctrl+.")), [this] { m_tuning.cancel(); });
  // A single Escape closes what is open; only the second one in a row stops.
  m_actions.addShortcut(id("tune.cancel"), QKeySequence(tr("Esc, Esc")));
}

void MainWindow::makeSessionActions() {
  m_actions.add(id("session.rename"), tr("Rena&me session"), tr("Give the selected session a name: the first line of its note"), QKeySequence(Qt::Key_F2), [this] {
    raiseView("sessions");
    m_sessionsView->rename();
  });
  m_actions.add(id("session.group"), tr("&Group sessions…"), tr("Put the selected sessions into a group: their first tag"), QKeySequence(tr("Ctrl+Shift+G")),
                [this] { m_sessionsView->group(); });
  m_actions.add(id("session.share"), tr("Shar&e sessions…"), tr("Write the selected sessions as one file, a bundle, that another workbench opens"), QKeySequence(tr("Ctrl+Alt+E")),
                [this] { chooseBundle(); });
  m_actions.setCondition(id("session.share"), [this] { return m_sessionsView && !m_sessionsView->selected().empty() ? QString() : tr("select a session first"); });
  m_actions.add(id("session.delete"), tr("&Delete sessions"), tr("Take the selected sessions out of the workspace with all their trials; until it is closed they can be brought back"),
                QKeySequence(tr("Ctrl+Shift+Del")), [this] { m_sessionsView->remove(); });
  m_actions.add(id("session.restore"), tr("Bring back de&leted sessions"), tr("Bring back the sessions that were deleted last"), QKeySequence(tr("Ctrl+Alt+Z")),
                [this] { m_workspace.restoreSessions(m_workspace.removedSessions().back()); });
  m_actions.add(id("session.play"), tr("Pla&y session"), tr("Play the selected sessions, or the one that is shown, on their time axis in all views"), QKeySequence(tr("Ctrl+P")),
                [this] { m_playbackBar->play(playable()); });
  m_actions.setCondition(id("session.play"), [this] {
    if (!m_hub.model()) return tr("open a network first");
    if (playable().empty()) return tr("there is no session yet");
    if (static_cast<int>(playable().size()) > SelectionHub::kTrayLimit) return tr("at most %1 sessions are played together").arg(SelectionHub::kTrayLimit);
    return m_tuning.isActive() ? tr("a session is running") : QString();
  });
  const auto noSession = [this] {
    if (!m_workspace.isWritable()) return tr("no workspace is open for writing");
    return m_sessionsView && !m_sessionsView->selected().empty() ? QString() : tr("select a session first");
  };
  m_actions.setCondition(id("session.rename"), noSession);
  m_actions.setCondition(id("session.group"), noSession);
  m_actions.setCondition(id("session.delete"), [this, noSession] { return m_tuning.isActive() ? tr("a session is running") : noSession(); });
  m_actions.setCondition(id("session.restore"), [this] { return m_workspace.removedSessions().empty() ? tr("none was deleted since the workspace was opened") : QString(); });
}

void MainWindow::makeViewActions() {
  m_actions.add(id("graph.zoomIn"), tr("Zoom &in"), tr("Enlarge the graph"), QKeySequence::ZoomIn, [this] { m_graph->view()->zoomBy(1.25); });
  m_actions.add(id("graph.zoomOut"), tr("Zoo&m out"), tr("Shrink the graph"), QKeySequence::ZoomOut, [this] { m_graph->view()->zoomBy(0.8); });
  m_actions.add(id("graph.fit"), tr("&Fit graph"), tr("Show the whole graph"), QKeySequence(tr("Ctrl+0")), [this] { m_graph->view()->fit(); });
  m_actions.add(id("view.resetLayout"), tr("&Reset layout"), tr("Put the views of this perspective back to their first places"), {}, [this] { resetLayout(); });
  m_actions.add(id("view.table"), tr("View as &table"), tr("Show the view last clicked into as a table of texts"), QKeySequence(tr("Ctrl+Shift+T")),
                [this] { showTable(); });
  m_actions.add(id("view.pin"), tr("Pin a cop&y"), tr("Open the view last clicked into once more; the copy keeps what is selected now"),
                QKeySequence(tr("Ctrl+Shift+K")), [this] { pinCurrentView(); });
  m_actions.add(id("view.drawer"), tr("Dra&wer"), tr("Open or close the drawer with trials, tasks, sessions, jobs and the log"), QKeySequence(tr("Ctrl+J")), [this] { toggleDrawer(); });
  m_actions.add(id("view.options"), tr("&Options of the session"), tr("Show the options of the next session and what its tuner does"), QKeySequence(tr("Ctrl+Shift+M")), [this] {
    setPerspective(QStringLiteral("tune"));
    raiseView("tune");
  });
  m_actions.get(id("view.options"))->setIconText(QString(QChar(0x2699)));
  auto* arrangements = new QActionGroup(this);
  int key = Qt::Key_1;
  for (const PerspectiveDef& def : perspectives()) {
    QAction* action = m_actions.add(QStringLiteral("view.perspective.") + QLatin1String(def.id), def.title(), def.help(),
                                    QKeySequence(QKeyCombination(Qt::ControlModifier, static_cast<Qt::Key>(key++))),
                                    [this, name = QString::fromLatin1(def.id)] { setPerspective(name); });
    action->setCheckable(true);
    arrangements->addAction(action);
  }
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
  m_actions.addToggle(id("view.bigType"), tr("&Big type"), tr("Larger letters everywhere, for a projector"), QKeySequence(tr("Ctrl+Shift+B")),
                      [this](bool on) { setBigType(on); });
  m_actions.get(id("view.bigType"))->setChecked(QSettings().value(QStringLiteral("bigType")).toBool());
  m_actions.addToggle(id("view.fullScreen"), tr("Full s&creen"), tr("Use the whole screen"), QKeySequence(Qt::Key_F11),
                      [this](bool on) { setWindowState(on ? windowState() | Qt::WindowFullScreen : windowState() & ~Qt::WindowFullScreen); });
}

void MainWindow::setConditions() {
  using Name = const char*;
  const auto when = [this](std::initializer_list<Name> names, const ActionRegistry::WhyNot& whyNot) {
    for (const Name name : names) m_actions.setCondition(QLatin1String(name), whyNot);
  };
  const auto noFrame = [this] {
    if (!m_hub.model()) return tr("open a model first");
    return m_isStart ? tr("go from the start page to the model first") : QString();
  };
  const auto notWhole = [this] { return m_hub.model()->isWhole ? QString() : tr("its tasks are being made"); };
  const auto cannotStart = [this, noFrame, notWhole] {
    if (const QString why = noFrame(); !why.isEmpty()) return why;
    if (!m_hub.model()->isWhole) return notWhole();
    if (m_tuning.isActive()) return tr("a session is running");
    const auto& tasks = m_hub.model()->tasks;
    if (tasks.empty()) return tr("this model has no tasks");
    if (std::none_of(tasks.begin(), tasks.end(), [](const api::NetworkTask& t) { return t.task.dag != nullptr; }))
      return tr("these tasks come from a log that does not hold their computations");
    if (!m_workspace.database()) return tr("no workspace is open");
    if (!m_workspace.isWritable()) return tr("the workspace is open for reading only");
    if (!m_hub.model()->id) return tr("the model is not in the workspace yet; open it again");
    return QString();
  };
  when({"tune.start", "tune.race"}, cannotStart);
  when({"tune.finals"}, [this, cannotStart] {
    const QString why = cannotStart();
    return !why.isEmpty() || !m_finals.isActive() ? why : tr("it is running already");
  });
  when({"build.network"}, [this, notWhole] {
    if (!m_hub.model()) return tr("open a model first");
    if (!m_hub.model()->isWhole) return notWhole();
    if (m_hub.model()->network.imported.nodes.empty()) return tr("only its tasks are here, not the network");
    if (m_tuning.isActive()) return tr("a session is running");
    return m_build.isActive() ? tr("it is being built") : QString();
  });
  when({"build.run"}, [this] {
    if (!m_build.built()) return tr("build the network first");
    if (m_tuning.isActive()) return tr("a session is running");
    return m_finals.isActive() || m_build.isRunning() ? tr("it is running already") : QString();
  });
  when({"file.sizes"}, [this] {
    if (!m_hub.model()) return tr("open a model first");
    if (m_hub.model()->network.imported.nodes.empty()) return tr("only its tasks are here, not the network");
    return m_tuning.isActive() ? tr("a session is running") : QString();
  });
  when({"build.save", "build.export"}, [this] { return m_build.built() ? QString() : tr("build the network first"); });
  when({"tune.task"}, [this, cannotStart] {
    const QString why = cannotStart();
    if (!why.isEmpty() || (m_hub.taskValue() && m_hub.taskValue()->dag)) return why;
    return m_hub.task() < 0 ? tr("select a task first") : tr("this task comes from a log that does not hold its computation");
  });
  when({"tune.resume"}, [this] {
    if (m_tuning.isActive()) return tr("a session is running");
    if (!m_workspace.isWritable()) return tr("no workspace is open for writing");
    return resumable() ? QString() : m_hub.session() ? tr("the selected session is done") : tr("no session was interrupted; one that was stopped has to be selected");
  });
  when({"tune.pause", "tune.cancel"}, [this] {
    if (!m_tuning.isActive()) return tr("no session is running");
    return m_tuning.state() == TuneService::State::stopping ? tr("it is stopping already") : QString();
  });
  when({"trial.next", "trial.previous", "trial.best", "trial.why", "trial.code"},
       [this, noFrame] { return m_trials.store() ? noFrame() : tr("no trials are shown"); });
  when({"file.close", "view.options"}, [this] { return m_hub.model() ? QString() : tr("open a model first"); });
  when({"graph.fit", "graph.zoomIn", "graph.zoomOut", "graph.search", "code.find", "code.findNext", "code.findPrevious"}, noFrame);
  when({"pass.next", "pass.previous", "view.drawer"}, noFrame);
  when({"code.compareTray"}, [this] { return traysPair() ? QString() : tr("put two trials of one task side by side first"); });
  when({"code.keepBase"}, [this] { return m_hub.trial() >= 0 ? QString() : tr("select a trial first"); });
  when({"code.noBase", "code.nextChange", "code.previousChange"},
       [this] { return m_hub.codeBase().kind != CodeBase::Kind::none ? QString() : tr("the code is not compared with anything"); });
  when({"file.exportReport"}, [this] { return SessionSet::nearest(m_hub, m_workspace) ? QString() : tr("there is no session yet"); });
  when({"file.exportTrial"}, [this] { return m_hub.model() && m_hub.trial() >= 0 ? QString() : tr("select a trial first"); });
  when({"file.exportComparison"}, [this] { return m_hub.comparedSessions().size() >= 2 ? QString() : tr("tick two sessions in the panel Sessions first"); });
  when({"file.exportCampaign"}, [this] { return m_campaigns.campaign() ? QString() : tr("show a campaign first"); });
  when({"campaign.run"}, [this] { return m_campaigns.obstacle(); });
  when({"campaign.stop"}, [this] { return !m_campaigns.isRunning() ? tr("no campaign is running") : m_campaigns.isStopping() ? tr("it is stopping already") : QString(); });
  when({"edit.undo"}, [this] { return m_hub.undoStack().canUndo() ? QString() : tr("nothing was changed yet"); });
  when({"edit.redo"}, [this] { return m_hub.undoStack().canRedo() ? QString() : tr("nothing was undone"); });
  when({"go.back"}, [this] { return m_hub.canGoBack() ? QString() : tr("nothing was selected before"); });
  when({"go.forward"}, [this] { return m_hub.canGoForward() ? QString() : tr("nothing was selected after"); });
}

void MainWindow::makeMenus() {
  for (const MenuDef& def : menus()) {
    QMenu* menu = menuBar()->addMenu(def.title());
    menu->setToolTipsVisible(true);
    for (const QString& entry : def.actions) {
      if (entry.isEmpty()) {
        menu->addSeparator();
      } else if (isActionName(entry)) {
        menu->addAction(m_actions.get(entry));
      } else if (entry == QLatin1String(kRecentMenu)) {
        m_recentMenu = menu->addMenu(tr("Open &recent"));
        m_recentMenu->setToolTipsVisible(true);
      } else {
        const bool panels = entry == QLatin1String(kPanelsMenu), perspective = entry == QLatin1String(kPerspectivesMenu);
        QMenu* sub = menu->addMenu(panels ? tr("&Views") : perspective ? tr("&Perspective") : tr("T&heme"));
        if (panels) {
          for (const ViewDef& view : views()) {
            auto* dock = findChild<QDockWidget*>(QStringLiteral("dock.") + QLatin1String(view.id));
            dock->toggleViewAction()->setObjectName(QStringLiteral("action.view.") + dock->objectName());
            sub->addAction(dock->toggleViewAction());
          }
        }
        for (const QString& name : actionsIn(entry, m_actions)) sub->addAction(m_actions.get(name));
      }
    }
  }
}

void MainWindow::fillRecent() {
  m_recentMenu->clear();
  QStringList recent;
  for (const QString& file : QSettings().value(QStringLiteral("recent")).toStringList()) {
    if (!QFileInfo::exists(file)) continue;
    recent << file;
    QAction* action = m_recentMenu->addAction(QFileInfo(file).fileName(), this, [this, file] { openAny(file); });
    action->setToolTip(file.toHtmlEscaped());
  }
  m_recentMenu->setEnabled(!recent.isEmpty());
  m_start->setRecent(recent);
}

void MainWindow::makeCommandBox() {
  std::vector<CommandSource> sources;
  sources.push_back({QLatin1Char('>'), tr("actions"), [this](const QString&) {
                       std::vector<Command> out;
                       for (QAction* action : m_actions.all()) {
                         if (action->objectName() == QLatin1String("action.go.commands")) continue;
                         out.push_back({plainText(action->text()), ActionRegistry::helpOf(action), action->shortcut().toString(QKeySequence::NativeText),
                                        ActionRegistry::whyNotOf(action), [action] { action->trigger(); }});
                       }
                       return out;
                     }});
  sources.push_back({QLatin1Char('#'), tr("tasks"), [this](const QString&) {
                       std::vector<Command> out;
                       const OpenModelPtr& model = m_hub.model();
                       for (size_t t = 0; model && t < model->tasks.size(); ++t) {
                         const int task = static_cast<int>(t);
                         out.push_back({QStringLiteral("T%1 %2").arg(task + 1).arg(model->titleOf(task)),
                                        tr("task, runs %1 times").arg(model->tasks[t].weight),
                                        {},
                                        {},
                                        [this, task] { m_hub.setTask(task); }});
                       }
                       return out;
                     }});
  sources.push_back(
      {QLatin1Char('@'), tr("loops"),
       [this](const QString&) {
         std::vector<Command> out;
         if (!m_explain.explanation()) return out;
         const QStringList lines = QString::fromStdString(m_explain.explanation()->loops).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
         for (int i = 0; i < lines.size(); ++i) {
           if (!lines[i].trimmed().startsWith(QLatin1String("for "))) continue;  // an array, or the name of a stage
           out.push_back({lines[i].trimmed(), tr("loop nest, line %1").arg(i + 1), {}, {}, [this, i] { m_hub.setPlace({widgets::CodeLanguage::loops, i}); }});
         }
         return out;
       },
       false});
  sources.push_back({QLatin1Char(':'), tr("line of the TIR"),
                     [this](const QString& text) {
                       bool isNumber = false;
                       const int line = text.toInt(&isNumber);
                       const int count =
                           m_explain.explanation() ? static_cast<int>(QString::fromStdString(m_explain.explanation()->tir).count(QLatin1Char('\n'))) : 0;
                       std::vector<Command> out;
                       if (isNumber)
                         out.push_back({tr("%1: go to line").arg(line),
                                        tr("of %1 lines of TIR").arg(count),
                                        {},
                                        line >= 1 && line <= count ? QString() : tr("there is no such line"),
                                        [this, line] {
                                          m_hub.setPlace({widgets::CodeLanguage::tir, line - 1});
                                        }});
                       return out;
                     },
                     false});
  sources.push_back({QLatin1Char('!'), tr("models"), [this](const QString&) {
                       std::vector<Command> out;
                       for (const auto& model : m_services.engine.zoo()) {
                         const QString name = QString::fromLatin1(model.name);
                         out.push_back({tr("Open %1").arg(name), QString::fromUtf8(model.summary), {}, {}, [this, name] { openZoo(name, false); }});
                       }
                       for (const QString& file : QSettings().value(QStringLiteral("recent")).toStringList())
                         out.push_back({tr("Open %1").arg(QFileInfo(file).fileName()), file, {}, {}, [this, file] { openAny(file); }});
                       return out;
                     }});
  m_commands = new CommandBox(std::move(sources), this);
}

void MainWindow::makeRunBar() {
  m_runBar = new RunBar(m_services, *m_tuneView, this);
  addToolBar(m_runBar);
  m_runBar->hide();
  addToolBarBreak();
  m_playbackBar = new PlaybackBar(m_hub, m_workspace, this);
  addToolBar(m_playbackBar);
  m_playbackBar->hide();
  connect(m_playbackBar, &PlaybackBar::failed, this, &MainWindow::showMessage);
  connect(m_runBar, &RunBar::targetChosen, this, &MainWindow::chooseTarget);
  QMenu* networks = m_runBar->networks();
  connect(networks, &QMenu::aboutToShow, this, [this, networks] {
    networks->clear();
    for (const char* name : {"file.open", "file.import", "file.start"}) networks->addAction(m_actions.get(QLatin1String(name)));
    networks->addMenu(m_recentMenu);
    networks->addSeparator();
    for (const auto& model : m_services.engine.zoo()) {
      const QString name = QString::fromLatin1(model.name);
      networks->addAction(name, this, [this, name] { openZoo(name, false); })->setToolTip(QString::fromUtf8(model.summary));
    }
  });
  widgets::setActionIcons(m_actions.all(), widgets::themeOf(this));
}

void MainWindow::chooseTarget(const QString& text) {
  QString wanted = text;
  if (wanted.isEmpty())
    wanted = QInputDialog::getText(this, tr("Another target"), tr("Target, as on the command line: llvm -mcpu=znver4 -num-cores=4, cuda:a100, …"), QLineEdit::Normal,
                                   QString::fromStdString(m_services.engine.target().str()));
  const auto target = parse_target(wanted.toStdString());
  if (!target) {
    if (!wanted.isEmpty()) showMessage(tr("The target cannot be used: %1").arg(QString::fromStdString(target.error().text())));
    return showTarget();
  }
  const OpenModelPtr& model = m_hub.model();
  if (!model) return setTarget(*target);
  if (model->network.imported.nodes.empty()) {
    showMessage(tr("These tasks are those of a log, for the targets that it says; for another one open a network."));
    return showTarget();
  }
  // Tasks are made for a target: the network is cut anew.
  openFor(*target, [this, path = model->path] { openFile(path); });
}

void MainWindow::setTarget(const Target& target) {
  m_services.engine.setTarget(target);
  showDevice();
}

void MainWindow::makeLessons() {
  m_lessonDesk = new LessonDesk(*this);
  m_lessons.setStage(*m_lessonDesk);
  // Beside the docks, where no perspective moves it.
  m_lessonBar = new QToolBar(tr("Lessons"), this);
  m_lessonBar->setObjectName(QStringLiteral("toolbar.lessons"));
  m_lessonBar->setMovable(false);
  m_lessonBar->setContextMenuPolicy(Qt::PreventContextMenu);
  auto* view = new LessonsView(m_lessons, m_lessonBar);
  view->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Expanding);
  m_lessonBar->addWidget(view);
  addToolBar(Qt::LeftToolBarArea, m_lessonBar);
  m_lessonBar->hide();
  connect(view, &LessonsView::closed, this, [this] { showLessons(false); });
  connect(&m_lessons, &LessonService::changed, this, [this] {
    if (m_lessons.current()) showLessons(true);
  });
}

void MainWindow::showLessons(bool show) {
  m_actions.get(QStringLiteral("help.lessons"))->setChecked(show);
  if (m_lessonBar->isHidden() != show) return;
  if (!show) m_lessons.leave();
  m_lessonBar->setVisible(show);
  m_runBar->setBeside(show ? m_lessonBar->sizeHint().width() : 0);
  // The rest of the window is as much narrower or wider.
  if (m_isStart || frameFit() == m_fit) return;
  savePerspective();
  loadPerspective(m_perspective);
}

void MainWindow::startLesson(const QString& name, const QString& step) {
  const QString problem = m_lessons.start(name, step);
  if (!problem.isEmpty()) showMessage(problem);
}

void MainWindow::showDevice() {
  const Target target = m_hub.model() ? m_hub.model()->target : m_services.engine.target();
  m_device->setVisible(target.gpu.has_value());
  if (!target.gpu) return;
  const std::string device = measure::device_for(target);
  const QString name = QString::fromStdString(target.gpu->description);
  m_device->setText(measure::is_simulated(device) ? tr("Simulated %1: times are estimates").arg(name)
                                                  : tr("%1 (%2)", "a GPU and its device").arg(name, QString::fromStdString(device)));
}

void MainWindow::makeStatusBar() {
  m_busy = new QProgressBar(this);
  m_busy->setRange(0, 0);
  m_busy->setMaximumWidth(140);
  m_busy->hide();
  m_workspaceLabel = new QLabel(this);
  m_workspaceLabel->setTextFormat(Qt::PlainText);
  m_crumb = new widgets::ElidedLabel(this);
  m_crumb->setObjectName(QStringLiteral("label.crumb"));
  m_crumb->setTextFormat(Qt::PlainText);
  m_crumb->setContentsMargins(8, 0, 8, 0);
  statusBar()->addWidget(m_crumb, 1);
  statusBar()->addPermanentWidget(m_busy);
  m_device = new QLabel(this);
  m_device->setObjectName(QStringLiteral("status.device"));
  statusBar()->addPermanentWidget(m_device);
  showDevice();
  statusBar()->addPermanentWidget(m_workspaceLabel);
  statusBar()->setMinimumHeight(m_banner->lineHeight());
}

void MainWindow::setTheme(widgets::ThemeChoice choice) {
  QSettings().setValue(QStringLiteral("theme"), QLatin1String(widgets::themeChoiceName(choice)));
  m_actions.get(QStringLiteral("view.theme.") + QLatin1String(widgets::themeChoiceName(choice)))->setChecked(true);
  widgets::applyTheme(choice);
  widgets::setActionIcons(m_actions.all(), widgets::themeOf(QApplication::palette()));
}

void MainWindow::setBigType(bool big) {
  QSettings().setValue(QStringLiteral("bigType"), big);
  QAction* action = m_actions.get(QStringLiteral("view.bigType"));
  if (action->isChecked() != big) return action->setChecked(big);
  widgets::setBigType(big);
  if (big == m_isBig) return;
  if (!m_perspectiveTabs) {  // the window is being made
    m_isBig = big;
    return;
  }
  // Each size of letters has its own arrangement of a perspective: panels are as much wider as their texts.
  savePerspective();
  m_isBig = big;
  statusBar()->setMinimumHeight(m_banner->lineHeight());
  if (!m_isStart) loadPerspective(m_perspective);
}

void MainWindow::updateActions() {
  m_actions.refresh();
  if (m_tuning.isActive()) return;
  const QSignalBlocker quiet(m_actions.get(QStringLiteral("tune.pause")));
  m_actions.get(QStringLiteral("tune.pause"))->setChecked(false);
}

}  // namespace tw::app
