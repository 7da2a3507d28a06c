// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QFileInfo>
#include <QLabel>
#include <QMessageBox>
#include <QProgressBar>
#include <QPushButton>
#include <QSettings>
#include <QScreen>
#include <QStatusBar>
#include <QStyle>
#include <QTabBar>

#include "app/command_box.h"
#include "app/dock_titles.h"
#include "app/glossary.h"
#include "app/lesson_desk.h"
#include "app/manual_window.h"
#include "app/perspectives.h"
#include "app/pinned_view.h"
#include "app/run_bar.h"
#include "app/shortcuts_sheet.h"
#include "app/view_export.h"
#include "app/views/graph_page.h"
#include "app/views/operator_view.h"
#include "app/views/start_page.h"
#include "app/views/tune_view.h"
#include "widgets/common/banner.h"
#include "widgets/common/focus_ring.h"
#include "widgets/common/menu_guard.h"
#include "widgets/ir/code_editor.h"

namespace tw::app {
namespace {
/// The window has a place for each set of screens.
QString geometryKey() {
  QStringList screens;
  for (const QScreen* s : QGuiApplication::screens()) screens << QStringLiteral("%1x%2").arg(s->size().width()).arg(s->size().height());
  return QStringLiteral("window/geometry/") + screens.join(QLatin1Char('+'));
}

QString placeText(const widgets::CodePlace& place, bool forGpu) {
  const int line = place.line + 1;
  switch (place.form) {
    case widgets::CodeLanguage::steps:
      return MainWindow::tr("step %1").arg(line);
    case widgets::CodeLanguage::loops:
      return MainWindow::tr("loop nest, line %1").arg(line);
    case widgets::CodeLanguage::tir:
      return MainWindow::tr("TIR, line %1").arg(line);
    case widgets::CodeLanguage::llvm:
      return (forGpu ? MainWindow::tr("CUDA C++, line %1") : MainWindow::tr("LLVM IR, line %1")).arg(line);
    case widgets::CodeLanguage::assembly:
      return (forGpu ? MainWindow::tr("PTX, line %1") : MainWindow::tr("assembly, line %1")).arg(line);
    case widgets::CodeLanguage::sass:
    case widgets::CodeLanguage::expression:
      break;
  }
  return MainWindow::tr("SASS, line %1").arg(line);
}

/// What a hub shows, from the model to the place in the code.
QString crumbOf(const SelectionHub& hub) {
  QStringList parts;
  if (hub.model()) parts << hub.model()->name;
  if (hub.task() >= 0) parts << QStringLiteral("T%1 %2").arg(hub.task() + 1).arg(hub.model()->titleOf(hub.task()));
  if (const SessionId session = hub.trial() >= 0 ? hub.trialRef().session : hub.session()) parts << MainWindow::tr("session %1").arg(session.value);
  if (hub.trial() >= 0)
    parts << MainWindow::tr("trial %1").arg(hub.trial());
  else if (hub.isConfigEdited())
    parts << MainWindow::tr("point %1").arg(hub.configIndex());
  if (const auto place = hub.place(); !place.isNull()) parts << placeText(place, hub.taskValue() && hub.taskValue()->target.gpu);
  return parts.join(QStringLiteral("  ") + QChar(0x25B8) + QStringLiteral("  "));
}
}  // namespace

MainWindow::MainWindow(Engine& engine, QWidget* parent)
    : QMainWindow(parent),
      m_actions(this),
      m_workspace(m_jobs),
      m_models(engine, m_jobs, m_workspace),
      m_tuning(engine, m_workspace),
      m_race(m_tuning),
      m_trials(m_hub, m_jobs, m_workspace, m_tuning),
      m_explain(engine, m_hub, m_jobs, m_workspace, m_tuning),
      m_tasks(engine, m_hub, m_jobs, m_workspace, m_tuning),
      m_marks(m_hub, m_jobs, m_workspace),
      m_finals(engine, m_workspace, m_tuning, m_board),
      m_build(engine, m_workspace, m_board),
      m_passCosts(engine, m_hub, m_workspace, m_tuning, m_board),
      m_import(engine, m_workspace, m_board),
      m_feeds(m_board, m_tuning, m_models, m_workspace),
      m_farms(engine, m_jobs),
      m_campaigns(engine, m_workspace, m_tuning, m_board),
      m_lessons(m_jobs),
      m_services{engine, m_jobs, m_hub, m_workspace, m_models, m_tuning, m_trials, m_explain, m_tasks, m_actions, m_marks, m_board, m_import, m_finals, m_build, m_passCosts, m_race, m_farms, m_campaigns} {
  setObjectName(QStringLiteral("window.main"));
  setWindowTitle(tr("Tilewright"));
  setAcceptDrops(true);
  setDockNestingEnabled(true);
  // An arrangement that is restored while a view still glides to its place crashes Qt.
  setAnimated(false);
  askQuit = [this] {
    const QString text = tr("The text of your own operator has changes that are not saved.");
    if (!m_tuning.isActive())
      return QMessageBox::question(this, tr("Quit"), text + QLatin1Char(' ') + tr("Quit without them?")) == QMessageBox::Yes ? QuitChoice::stop
                                                                                                                        : QuitChoice::stay;
    QMessageBox box(QMessageBox::NoIcon, tr("Tuning is running"), tr("A session is running. What becomes of it?"), QMessageBox::Cancel, this);
    const QString session = tr("All trials measured so far are stored. In the background the session goes on without a window until it is done.");
    box.setInformativeText(hasUnsavedText() ? session + QLatin1Char(' ') + text : session);
    QPushButton* stop = box.addButton(tr("&Stop and quit"), QMessageBox::DestructiveRole);
    QPushButton* background = box.addButton(tr("Finish in the &background"), QMessageBox::AcceptRole);
    box.setDefaultButton(QMessageBox::Cancel);
    box.exec();
    return box.clickedButton() == stop ? QuitChoice::stop : box.clickedButton() == background ? QuitChoice::background : QuitChoice::stay;
  };
  m_glossary = new Glossary(this);
  new widgets::FocusRing(this);
  new widgets::MenuGuard(this);
  makeActions();
  m_banner = new widgets::Banner(this);
  m_banner->installEventFilter(this);
  m_start = new StartPage(m_services, this);
  setCentralWidget(m_start);
  m_currentView = m_start;
  m_titles = new DockTitles(this);
  makeDocks();
  makeMenus();
  makeHeader();
  makeRunBar();
  makeLessons();
  makeStatusBar();
  makeCommandBox();
  connectServices();
  restore();
  updateActions();
}

MainWindow::~MainWindow() {
  m_hub.undoStack().disconnect(this);  // it says that it is empty when it ends, and then the services are gone already
  // Views go first: they hold references to the services.
  delete takeCentralWidget();
  qDeleteAll(findChildren<QDockWidget*>(QString(), Qt::FindDirectChildrenOnly));
}

void MainWindow::connectServices() {
  using widgets::Banner;
  connect(m_start, &StartPage::zooChosen, this, &MainWindow::openZoo);
  connect(m_start, &StartPage::fileChosen, this, &MainWindow::openFile);
  connect(m_start, &StartPage::compareAsked, this, [this] {
    openZoo(QStringLiteral("resnet18"), true);
    m_whenOpen = {ModelId(), [this] { QMetaObject::invokeMethod(this, &MainWindow::chooseRace, Qt::QueuedConnection); }};
  });
  connect(m_start, &StartPage::backAsked, this, [this] { showStart(false); });
  connect(m_start, &StartPage::campaignsAsked, this, &MainWindow::showCampaigns);
  connect(&m_models, &ModelService::graphRead, this, &MainWindow::showModel);
  connect(&m_models, &ModelService::opened, this, &MainWindow::showModel);
  connect(&m_models, &ModelService::cancelled, this, &MainWindow::dropOpening);
  connect(&m_models, &ModelService::sizesWanted, this, &MainWindow::askForSizes);
  connect(&m_models, &ModelService::failed, this, [this](const QString& message, const QString& details) {
    dropOpening();
    m_banner->showMessage(Banner::Kind::error, message, details);
  });
  connect(&m_models, &ModelService::busyChanged, this, [this](const QString& what) {
    m_busyWith = what;
    m_busy->setRange(0, 0);
    m_busy->setVisible(!what.isEmpty());
    statusBar()->showMessage(what);
  });
  connect(&m_models, &ModelService::progressed, this, [this](const QString& stage, int done, int total) {
    m_busy->setRange(0, total);
    m_busy->setValue(done);
    statusBar()->showMessage(tr("%1: %2", "what is done, and how far it is").arg(m_busyWith, stage));
  });
  connect(&m_import, &ImportService::failed, this,
          [this](const QString& message) { m_banner->showMessage(Banner::Kind::error, tr("The log cannot be imported: %1").arg(message)); });
  connect(&m_import, &ImportService::imported, this, &MainWindow::showImported);
  connect(&m_workspace, &Workspace::failed, this, [this](const QString& message, bool readOnly) {
    if (statusBar()->currentMessage() == m_openingText) statusBar()->clearMessage();
    m_banner->showMessage(readOnly ? Banner::Kind::warning : Banner::Kind::error, message);
    updateActions();
  });
  // The start page has no panel of jobs.
  auto* stopUpgrade = new QAction(tr("Stop"), this);
  stopUpgrade->setObjectName(QStringLiteral("action.workspace.stop_upgrade"));
  stopUpgrade->setToolTip(tr("Leaves the workspace as it was; none is open then"));
  connect(stopUpgrade, &QAction::triggered, &m_workspace, &Workspace::cancelUpgrade);
  connect(&m_workspace, &Workspace::upgrading, this, [this, stopUpgrade](int from, int to, int done, int steps) {
    m_upgradeText = tr("Bringing %1 from format %2 to %3, step %4 of %5.").arg(QFileInfo(m_workspace.path()).fileName()).arg(from).arg(to).arg(std::min(done + 1, steps)).arg(steps);
    m_banner->showMessage(Banner::Kind::info, m_upgradeText, {}, {stopUpgrade});
  });
  connect(&m_workspace, &Workspace::opened, this, [this] {
    if (!m_upgradeText.isEmpty() && m_banner->text() == m_upgradeText) m_banner->hide();
  });
  connect(&m_workspace, &Workspace::damaged, this, &MainWindow::showDamage);
  connect(&m_workspace, &Workspace::opened, this, [this] {
    if (statusBar()->currentMessage() == m_openingText) statusBar()->clearMessage();
    m_workspaceLabel->setText(QFileInfo(m_workspace.path()).fileName() + (m_workspace.isWritable() ? QString() : tr(" (reading only)")));
    m_workspaceLabel->setToolTip(m_workspace.path().toHtmlEscaped());
    // What is pinned belongs to the old workspace.
    for (auto* pinned : findChildren<PinnedView*>()) pinned->parentWidget()->close();
    // So does the open model: enter it into this one. Tasks without a network are what the old workspace knew, under its numbers.
    if (const auto model = m_hub.model(); model && model->network.imported.nodes.empty())
      closeModel();
    else if (model)
      openFile(model->path);
    updateActions();
  });
  connect(&m_workspace, &Workspace::opened, this, [this] { m_lookForInterrupted = true; });
  connect(&m_workspace, &Workspace::sessionsChanged, this, &MainWindow::offerRecovery);
  // Whoever opens a bundle wants to see what is in it.
  connect(&m_workspace, &Workspace::opened, this, [this] {
    if (m_hub.model() || !m_workspace.isBundle()) return;
    const auto openNewest = [this] {
      if (m_hub.model() || m_models.isBusy() || m_workspace.sessions().empty()) return;
      const db::SessionRow& newest = m_workspace.sessions().back();
      // Kernels of a GPU have no code on a processor, nor the other way round.
      if (const auto target = parse_target(newest.target); target && target->gpu.has_value() != m_services.engine.target().gpu.has_value())
        openFor(*target, [this, model = newest.model] { m_models.openStored(model); });
      else
        m_models.openStored(newest.model);
    };
    connect(&m_workspace, &Workspace::sessionsChanged, this, openNewest, Qt::SingleShotConnection);
  });
  connect(&m_tuning, &TuneService::sessionStarted, this, [this] {
    m_hub.setSession(m_tuning.session(), SelectionHub::Way::followed);
    m_workspace.refreshSessions();
  });
  connect(&m_tuning, &TuneService::stateChanged, this, [this] {
    if (m_tuning.isActive()) m_build.stopRun();  // each would disturb what the other measures
    updateActions();
    if (m_tuning.isActive()) return;
    // While it ran its trials alone were shown; now they are among all.
    if (m_hub.session() == m_tuning.session() && !m_hub.isSessionChosen()) m_hub.setSession({}, SelectionHub::Way::followed);
    m_workspace.refreshSessions();
    if (m_closeWhenIdle) QMetaObject::invokeMethod(this, &QWidget::close, Qt::QueuedConnection);
  });
  connect(&m_tuning, &TuneService::failed, this, [this](const QString& message) { m_banner->showMessage(Banner::Kind::error, message); });
  connect(&m_tuning, &TuneService::finished, this, &MainWindow::showOutcome);
  connect(&m_tuning, &TuneService::finished, this, &MainWindow::tryInNetwork);
  connect(&m_finals, &FinalsService::changed, this, &MainWindow::updateActions);
  connect(&m_finals, &FinalsService::failed, this, [this](const QString& message) { m_banner->showMessage(Banner::Kind::error, message); });
  connect(&m_finals, &FinalsService::finished, this, &MainWindow::showFinals);
  connect(&m_farms, &FarmService::failed, this, [this](const QString& message) { m_banner->showMessage(Banner::Kind::error, message); });
  connect(&m_build, &BuildService::changed, this, &MainWindow::updateActions);
  connect(&m_build, &BuildService::failed, this, [this](const QString& message) { m_banner->showMessage(Banner::Kind::error, message); });
  connect(&m_build, &BuildService::written, this, [this](const QString& what) { m_banner->showMessage(Banner::Kind::info, what); });
  connect(&m_campaigns, &CampaignService::changed, this, &MainWindow::updateActions);
  connect(&m_campaigns, &CampaignService::failed, this, [this](const QString& message) { m_banner->showMessage(Banner::Kind::error, message); });
  connect(&m_campaigns, &CampaignService::fileAsked, this, &MainWindow::openCampaign);
  connect(&m_campaigns, &CampaignService::planRead, this, [this] {
    openWorkspace(m_campaigns.planWorkspace());
    showCampaigns();
  });
  connect(&m_campaigns, &CampaignService::trialAsked, this, &MainWindow::showCampaignTrial);
  connect(&m_race, &RaceService::changed, this, &MainWindow::showRace);
  connect(&m_race, &RaceService::finished, this, [this] {
    m_banner->showMessage(Banner::Kind::info,
                          tr("The race is over: %n session(s) stand side by side in Compare.", nullptr, static_cast<int>(m_race.sessions().size())));
  });
  connect(&m_hub, &SelectionHub::modelChanged, this, &MainWindow::showDevice);
  connect(&m_hub, &SelectionHub::taskChanged, this, [this] {
    // The offer speaks of another task.
    if (!m_offer.isEmpty() && m_banner->text() == m_offer) m_banner->hide();
  });
  connect(&m_trials, &TrialService::failed, this, [this](const QString& message) { m_banner->showMessage(Banner::Kind::error, message); });
  connect(&m_tasks, &TaskBoard::failed, this, [this](const QString& message) { m_banner->showMessage(Banner::Kind::warning, message); });
  connect(&m_marks, &MarkService::failed, this, &MainWindow::showMessage);
  // What sessions are called is in their notes.
  connect(&m_marks, &MarkService::stored, this, [this](const QString& noun) {
    if (noun.startsWith(QLatin1String("session:"))) m_workspace.refreshSessions();
  });
  connect(&m_workspace, &Workspace::contentsChanged, this, [this] {
    if (!m_workspace.removedSessions().empty())
      statusBar()->showMessage(tr("%n session(s) deleted; until the workspace is closed they can be brought back.", nullptr, static_cast<int>(m_workspace.removedSessions().back().size())), 8000);
    updateActions();
  });
  const auto crumb = [this] {
    m_crumb->setText(crumbOf(m_hub));
    updateActions();
  };
  connect(m_tuneView, &TuneView::threadsChosen, this, [this](int threads) {
    Target target = m_hub.model() ? m_hub.model()->target : m_services.engine.target();
    target.cores = threads;
    chooseTarget(QString::fromStdString(target.str()));
  });
  connect(m_tuneView, &TuneView::yielded, this, [this](const QString& message) { statusBar()->showMessage(message, 8000); });
  for (const auto signal : {&SelectionHub::modelChanged, &SelectionHub::taskChanged, &SelectionHub::sessionChanged, &SelectionHub::trialChanged,
                            &SelectionHub::configEdited, &SelectionHub::placeChanged}) {
    connect(&m_hub, signal, this, crumb);
  }
  connect(&m_hub, &SelectionHub::historyChanged, this, &MainWindow::updateActions);
  connect(&m_hub, &SelectionHub::codeBaseChanged, this, &MainWindow::updateActions);
  connect(&m_hub, &SelectionHub::trayChanged, this, &MainWindow::updateActions);
  connect(&m_hub.undoStack(), &QUndoStack::indexChanged, this, &MainWindow::updateActions);
  connect(&m_trials, &TrialService::storeChanged, this, &MainWindow::updateActions);
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
    for (QWidget* w = now; w; w = w->parentWidget()) {
      const auto* dock = qobject_cast<QDockWidget*>(w->parentWidget());
      if ((dock && dock->widget() == w && dock->window() == this) || w == m_start) m_currentView = w;
    }
  });
}

void MainWindow::openWorkspace(const QString& path) {
  m_openingText = tr("Opening the workspace %1…").arg(QFileInfo(path).fileName());
  statusBar()->showMessage(m_openingText);
  m_workspace.open(path);
}

void MainWindow::withModel(ModelId model, const std::string& target, std::function<void()> then) {
  const auto wanted = parse_target(target);
  if (!target.empty() && !wanted) return showMessage(QString::fromStdString(wanted.error().text()));
  if (m_hub.model() && m_hub.model()->id == model && (target.empty() || m_hub.model()->target.str() == target)) {
    showStart(false);
    return then();
  }
  m_whenOpen = {model, std::move(then)};
  if (target.empty()) return m_models.openStored(model);
  openFor(*wanted, [this, model] { m_models.openStored(model); });
}

void MainWindow::openZoo(const QString& name, bool tiny) {
  m_whenOpen = {};
  m_models.openZoo(name, tiny);
}

void MainWindow::openFor(const Target& target, const std::function<void()>& open) {
  if (!m_targetBefore) m_targetBefore = m_services.engine.target();
  setTarget(target);
  open();
}

void MainWindow::dropOpening() {
  m_whenOpen = {};
  if (m_hub.model() && !m_hub.model()->isWhole) closeModel();
  if (m_targetBefore) setTarget(*std::exchange(m_targetBefore, std::nullopt));
  showTarget();
}

void MainWindow::showTarget() {
  m_runBar->showModel();
  m_tuneView->showThreads();
}

void MainWindow::showDamage() {
  const int rows = m_workspace.damagedRows();
  m_workspaceLabel->setText(QFileInfo(m_workspace.path()).fileName() + (m_workspace.isWritable() ? QString() : tr(" (reading only)")) +
                            tr(" (%n damaged row(s))", nullptr, rows));
  m_banner->showMessage(widgets::Banner::Kind::warning, tr("%n row(s) of the workspace are damaged and left out of everything.", nullptr, rows),
                        tr("Nothing else is lost. Close the workspace, then `tw db check %1` names the rows, and `tw db repair %1` removes them and restores what the newest "
                           "backup has.")
                            .arg(m_workspace.path()));
}

void MainWindow::clearBanner() {
  if (m_workspace.readOnlyReason().isEmpty()) return m_workspace.damagedRows() > 0 ? showDamage() : m_banner->hide();
  m_banner->showMessage(widgets::Banner::Kind::warning, m_workspace.readOnlyReason());
}

void MainWindow::showModel(const OpenModelPtr& model) {
  if (!m_hub.model() || !model->completes(*m_hub.model())) {
    clearBanner();
    showStart(false);
    if (!m_currentView || m_currentView == m_start) m_currentView = m_graph;
    if (!m_build.built() || m_build.built()->model != model) m_build.forget();
    setWindowTitle(tr("%1 – Tilewright").arg(model->name));
  }
  m_hub.setModel(model);
  if (!model->isWhole) return;
  m_targetBefore.reset();
  addRecent(model->path);
  offerTuning();
  const auto [wanted, then] = std::exchange(m_whenOpen, {});
  if (!then) return;
  if (!wanted || wanted == model->id) return then();
  m_banner->showMessage(widgets::Banner::Kind::warning, tr("The file %1 has changed: it is not the network that the session tuned.").arg(model->path));
}

void MainWindow::closeModel() {
  const bool isBegun = m_hub.model() && !m_hub.model()->isWhole;
  clearBanner();
  m_hub.setModel(nullptr);
  if (isBegun) m_models.cancel();
  showStart(true);
  setWindowTitle(tr("Tilewright"));
}

QWidget* MainWindow::currentView() const { return m_currentView ? m_currentView.data() : m_isStart ? static_cast<QWidget*>(m_start) : m_graph; }

void MainWindow::showMessage(const QString& error) { m_banner->showMessage(widgets::Banner::Kind::error, error); }

void MainWindow::showTable() {
  const widgets::Table table = widgets::tableOf(currentView());
  if (table.columns.isEmpty()) return statusBar()->showMessage(tr("This view has no table"), 5000);
  auto* dock = qobject_cast<QDockWidget*>(currentView()->parentWidget());
  (new TableDialog(dock ? dock->windowTitle() : tr("Graph"), table, this))->show();
}

void MainWindow::pinCurrentView() {
  if (auto* dock = qobject_cast<QDockWidget*>(currentView()->parentWidget())) pin(dock);
}

void MainWindow::pin(QDockWidget* dock) {
  for (const ViewDef& def : views()) {
    if (dock->objectName() != QStringLiteral("dock.") + QLatin1String(def.id)) continue;
    if (!def.canPin) return statusBar()->showMessage(tr("%1 has no selection of its own; click into another view to pin that").arg(def.title()), 5000);
    auto* pinned = new QDockWidget(tr("%1, pinned: %2").arg(def.title(), crumbOf(m_hub)), this);
    pinned->setObjectName(QStringLiteral("dock.pinned.%1").arg(++m_pinned));
    pinned->setAttribute(Qt::WA_DeleteOnClose);
    pinned->setAccessibleName(pinned->windowTitle());
    pinned->setWidget(new PinnedView(def, m_services, pinned));
    pinned->installEventFilter(this);
    m_titles->add(pinned, false);
    leaveSeparators(*this);
    tabifyDockWidget(dock, pinned);  // not added to the area first: that takes room from all others there, which they do not get back
    pinned->show();
    pinned->raise();
  }
}

std::optional<std::pair<TrialRef, TrialRef>> MainWindow::traysPair() const {
  const std::vector<TrialRef>& tray = m_hub.tray();
  for (size_t i = 1; i < tray.size(); ++i) {
    if (tray[i].task == tray[0].task) return std::pair(tray[0], tray[i]);
  }
  return std::nullopt;
}

void MainWindow::compareTray() {
  const auto pair = traysPair();
  if (!pair) return;
  m_hub.setTrial(pair->second);
  m_hub.setCodeBase({CodeBase::Kind::trial, pair->first});
  raiseView("code");
}

void MainWindow::openCommandBox(const QString& text) { m_commands->open(text); }

void MainWindow::showShortcuts() {
  ShortcutsSheet sheet(m_actions, this);
  sheet.exec();
}

void MainWindow::restore() {
  QSettings settings;
  m_isBig = m_actions.get(QStringLiteral("view.bigType"))->isChecked();
  // Inside what the desktop leaves of the screen, with the frame that it puts around windows.
  const QSize frame(2 * style()->pixelMetric(QStyle::PM_MdiSubWindowFrameWidth), style()->pixelMetric(QStyle::PM_TitleBarHeight));
  resize(QSize(1600, 1000).boundedTo(screen()->availableGeometry().size() - frame));
  QString id = settings.value(QStringLiteral("perspective")).toString();
  const auto known = [&](const PerspectiveDef& p) { return id == QLatin1String(p.id); };
  if (std::none_of(perspectives().begin(), perspectives().end(), known)) id = QLatin1String(perspectives().front().id);
  restoreGeometry(settings.value(geometryKey()).toByteArray());
  m_perspectiveTabs->setEnabled(false);
  setPerspective(id);
  fillRecent();
}

void MainWindow::save() {
  QSettings settings;
  settings.setValue(geometryKey(), saveGeometry());
  settings.setValue(QStringLiteral("perspective"), m_perspective);
  settings.setValue(QStringLiteral("workspace"), m_workspace.path());
  savePerspective();
}

bool MainWindow::hasUnsavedText() const { return findChild<OperatorView*>()->editor()->isModified(); }

void MainWindow::closeEvent(QCloseEvent* event) {
  if (m_tuning.isActive() && m_closeWhenIdle) return event->ignore();
  if ((m_tuning.isActive() || hasUnsavedText()) && !m_closeWhenIdle) {
    const QuitChoice choice = askQuit();
    if (choice == QuitChoice::stay) return event->ignore();
    if (m_tuning.isActive()) {
      event->ignore();
      m_closeWhenIdle = true;
      m_race.stop();
      if (choice == QuitChoice::stop) return m_tuning.cancel();
      m_tuning.setPaused(false);  // nobody could go on with it
      return hide();
    }
  }
  save();
  event->accept();
  // A window that was hidden is not the last one to be closed.
  if (m_closeWhenIdle && !isVisible()) QMetaObject::invokeMethod(qApp, &QApplication::quit, Qt::QueuedConnection);
}

void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() == QEvent::WindowStateChange) m_tuning.setWatched(!isMinimized());
  if (event->type() == QEvent::ThemeChange && m_actions.get(QStringLiteral("view.theme.system"))->isChecked()) setTheme(widgets::ThemeChoice::system);
}

void MainWindow::showManual(const QString& view) {
  if (!m_manual) m_manual = new ManualWindow(this);
  if (!view.isEmpty()) m_manual->showView(view);
  m_manual->show();
  m_manual->raise();
}

void MainWindow::showWord(const QString& word) {
  showManual();
  m_manual->showWord(word);
}

void MainWindow::about() {
  QMessageBox box(QMessageBox::Information, tr("About Tilewright"), tr("Tilewright %1").arg(QStringLiteral(TW_VERSION)), QMessageBox::Ok, this);
  box.setInformativeText(tr("A workbench for tuning tensor programs.\nWorkbench: GPL-3.0-or-later. Engine and command line: Apache-2.0.\nBuilt with Qt %1, "
                            "QCustomPlot and QScintilla.")
                             .arg(QLatin1String(qVersion())));
  box.setTextFormat(Qt::PlainText);
  box.exec();
}

}  // namespace tw::app
