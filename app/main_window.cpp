// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMessageBox>
#include <QMimeData>
#include <QProgressBar>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QVBoxLayout>

#include "app/manual_window.h"
#include "app/views/code_dock.h"
#include "app/views/graph_page.h"
#include "app/views/start_page.h"
#include "app/views/trials_view.h"
#include "app/views/tune_view.h"
#include "widgets/common/banner.h"

namespace tw::app {
namespace {
constexpr int kLayoutVersion = 1;
constexpr int kRecentFiles = 8;

QString placeText(const widgets::CodePlace& place) {
  const int line = place.line + 1;
  switch (place.form) {
    case widgets::CodeLanguage::steps:
      return MainWindow::tr("step %1").arg(place.line);
    case widgets::CodeLanguage::loops:
      return MainWindow::tr("loop nest, line %1").arg(line);
    case widgets::CodeLanguage::tir:
      return MainWindow::tr("TIR, line %1").arg(line);
    case widgets::CodeLanguage::llvm:
      return MainWindow::tr("LLVM IR, line %1").arg(line);
    case widgets::CodeLanguage::assembly:
      break;
  }
  return MainWindow::tr("assembly, line %1").arg(line);
}
}  // namespace

MainWindow::MainWindow(Engine& engine, QWidget* parent)
    : QMainWindow(parent),
      m_actions(this),
      m_workspace(m_jobs),
      m_models(engine, m_jobs, m_workspace),
      m_tuning(engine, m_workspace),
      m_trials(m_hub, m_jobs, m_workspace, m_tuning),
      m_explain(engine, m_hub, m_jobs, m_workspace, m_tuning),
      m_tasks(engine, m_hub, m_jobs, m_workspace, m_tuning),
      m_services{engine, m_jobs, m_hub, m_workspace, m_models, m_tuning, m_trials, m_explain, m_tasks, m_actions} {
  setObjectName(QStringLiteral("window.main"));
  setWindowTitle(tr("Tilewright"));
  setAcceptDrops(true);
  setDockNestingEnabled(true);
  confirmStop = [this] {
    return QMessageBox::question(this, tr("Tuning is running"), tr("Stop the session and quit? All trials measured so far are stored."),
                                 QMessageBox::Yes | QMessageBox::No) == QMessageBox::Yes;
  };
  makeActions();
  auto* central = new QWidget(this);
  auto* box = new QVBoxLayout(central);
  box->setContentsMargins(0, 0, 0, 0);
  box->setSpacing(0);
  m_banner = new widgets::Banner(central);
  m_pages = new QStackedWidget(central);
  m_start = new StartPage(m_services, m_pages);
  m_graph = new GraphPage(m_services, m_pages);
  m_pages->addWidget(m_start);
  m_pages->addWidget(m_graph);
  box->addWidget(m_banner);
  box->addWidget(m_pages, 1);
  setCentralWidget(central);
  makeDocks();
  makeMenus();
  makeToolBar();
  makeStatusBar();
  connectServices();
  restore();
  updateActions();
}

MainWindow::~MainWindow() {
  // Views go first: they hold references to the services.
  delete takeCentralWidget();
  qDeleteAll(findChildren<QDockWidget*>(QString(), Qt::FindDirectChildrenOnly));
}

void MainWindow::connectServices() {
  using widgets::Banner;
  connect(m_start, &StartPage::zooChosen, this, &MainWindow::openZoo);
  connect(m_start, &StartPage::fileChosen, this, &MainWindow::openFile);
  connect(&m_models, &ModelService::opened, this, &MainWindow::showModel);
  connect(&m_models, &ModelService::failed, this,
          [this](const QString& message, const QString& details) { m_banner->showMessage(Banner::Kind::error, message, details); });
  connect(&m_models, &ModelService::busyChanged, this, [this](const QString& what) {
    m_busyWith = what;
    m_busy->setVisible(!what.isEmpty());
    statusBar()->showMessage(what);
  });
  connect(&m_workspace, &Workspace::failed, this, [this](const QString& message, bool readOnly) {
    m_banner->showMessage(readOnly ? Banner::Kind::warning : Banner::Kind::error, message);
    updateActions();
  });
  connect(&m_workspace, &Workspace::opened, this, [this] {
    m_workspaceLabel->setText(QFileInfo(m_workspace.path()).fileName() + (m_workspace.isWritable() ? QString() : tr(" (reading only)")));
    m_workspaceLabel->setToolTip(m_workspace.path().toHtmlEscaped());
    // The open model belongs to the old workspace: enter it into this one.
    if (m_hub.model()) openFile(m_hub.model()->path);
    updateActions();
  });
  connect(&m_tuning, &TuneService::sessionStarted, this, [this] {
    m_hub.setSession(m_tuning.session(), SelectionHub::Way::followed);
    m_workspace.refreshSessions();
  });
  connect(&m_tuning, &TuneService::stateChanged, this, [this] {
    updateActions();
    if (m_tuning.isActive()) return;
    m_workspace.refreshSessions();
    if (m_closeWhenIdle) QMetaObject::invokeMethod(this, &QWidget::close, Qt::QueuedConnection);
  });
  connect(&m_tuning, &TuneService::failed, this, [this](const QString& message) { m_banner->showMessage(Banner::Kind::error, message); });
  connect(&m_tuning, &TuneService::finished, this, [this](const QString& summary) { m_banner->showMessage(Banner::Kind::info, summary); });
  connect(&m_trials, &TrialService::failed, this, [this](const QString& message) { m_banner->showMessage(Banner::Kind::error, message); });
  connect(&m_tasks, &TaskBoard::failed, this, [this](const QString& message) { m_banner->showMessage(Banner::Kind::warning, message); });
  const auto crumb = [this] {
    QStringList parts;
    if (m_hub.model()) parts << m_hub.model()->name;
    if (m_hub.task() >= 0) parts << QStringLiteral("T%1 %2").arg(m_hub.task() + 1).arg(QString::fromStdString(m_hub.taskValue()->name));
    if (m_hub.session()) parts << tr("session %1").arg(m_hub.session().value);
    if (m_hub.trial() >= 0)
      parts << tr("trial %1").arg(m_hub.trial());
    else if (m_hub.isConfigEdited())
      parts << tr("point %1").arg(m_hub.configIndex());
    if (const auto place = m_hub.place(); !place.isNull()) parts << placeText(place);
    m_crumb->setText(parts.join(QStringLiteral("  ") + QChar(0x25B8) + QStringLiteral("  ")));
    updateActions();
  };
  connect(&m_hub, &SelectionHub::modelChanged, this, crumb);
  connect(&m_hub, &SelectionHub::taskChanged, this, crumb);
  connect(&m_hub, &SelectionHub::sessionChanged, this, crumb);
  connect(&m_hub, &SelectionHub::trialChanged, this, crumb);
  connect(&m_hub, &SelectionHub::configEdited, this, crumb);
  connect(&m_hub, &SelectionHub::placeChanged, this, crumb);
  connect(&m_trials, &TrialService::storeChanged, this, &MainWindow::updateActions);
}

void MainWindow::openWorkspace(const QString& path) { m_workspace.open(path); }

void MainWindow::openFile(const QString& path) { m_models.openFile(path); }

void MainWindow::openZoo(const QString& name, bool tiny) { m_models.openZoo(name, tiny); }

void MainWindow::showModel(const OpenModelPtr& model) {
  m_banner->hide();
  m_pages->setCurrentWidget(m_graph);
  m_hub.setModel(model);
  setWindowTitle(tr("%1 – Tilewright").arg(model->name));
  addRecent(model->path);
}

void MainWindow::startTuning() {
  if (!m_actions.get(QStringLiteral("tune.start"))->isEnabled()) return;
  TuneService::Request request{m_hub.model(), {}, m_tuneView->options()};
  if (request.options.trials == 0 && request.options.trials_per_task == 0) {
    m_banner->showMessage(widgets::Banner::Kind::warning, tr("Set a number of trials, in all or per task: without a limit the session would not end."));
    return;
  }
  if (m_tuneView->onlySelectedTask()) request.tasks.push_back(m_hub.task());
  m_banner->hide();
  m_hub.setTrial(-1);
  m_hub.noteConfigIndex(-1);
  m_tuning.start(request);
}

void MainWindow::addRecent(const QString& path) {
  QSettings settings;
  QStringList recent = settings.value(QStringLiteral("recent")).toStringList();
  recent.removeAll(path);
  recent.prepend(path);
  while (recent.size() > kRecentFiles) recent.removeLast();
  settings.setValue(QStringLiteral("recent"), recent);
  m_start->setRecent(recent);
}

void MainWindow::chooseFile() {
  const QString path =
      QFileDialog::getOpenFileName(this, tr("Open model"), QSettings().value(QStringLiteral("folder")).toString(), tr("ONNX models (*.onnx);;All files (*)"));
  if (path.isEmpty()) return;
  QSettings().setValue(QStringLiteral("folder"), QFileInfo(path).absolutePath());
  openFile(path);
}

void MainWindow::chooseWorkspace() {
  const QString path = QFileDialog::getSaveFileName(this, tr("Open or create workspace"), m_workspace.path(), tr("Tilewright workspaces (*.twdb)"), nullptr,
                                                    QFileDialog::DontConfirmOverwrite);
  if (!path.isEmpty()) openWorkspace(path);
}

void MainWindow::restore() {
  QSettings settings;
  resize(1400, 900);
  resetLayout();
  restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
  restoreState(settings.value(QStringLiteral("window/docks")).toByteArray(), kLayoutVersion);
  QStringList recent;
  for (const QString& file : settings.value(QStringLiteral("recent")).toStringList()) {
    if (QFileInfo::exists(file)) recent << file;
  }
  m_start->setRecent(recent);
}

void MainWindow::save() {
  QSettings settings;
  settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
  settings.setValue(QStringLiteral("window/docks"), saveState(kLayoutVersion));
  settings.setValue(QStringLiteral("workspace"), m_workspace.path());
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (m_tuning.isActive()) {
    event->ignore();
    if (m_closeWhenIdle || !confirmStop()) return;
    m_closeWhenIdle = true;
    m_tuning.cancel();
    return;
  }
  save();
  event->accept();
}

void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() == QEvent::WindowStateChange) m_tuning.setWatched(!isMinimized());
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls() && event->mimeData()->urls().first().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const QString path = event->mimeData()->urls().first().toLocalFile();
  if (path.endsWith(QLatin1String(".twdb")))
    openWorkspace(path);
  else
    openFile(path);
}

void MainWindow::showManual() {
  if (!m_manual) m_manual = new ManualWindow(this);
  m_manual->show();
  m_manual->raise();
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
