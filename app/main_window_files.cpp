// SPDX-License-Identifier: GPL-3.0-or-later
// Models, logs, workspaces and pictures: what the main window opens and writes.
#include <QApplication>
#include <QClipboard>
#include <QDragEnterEvent>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>
#include <algorithm>

#include "app/main_window.h"
#include "app/logs/campaign_page.h"
#include "app/logs/comparison_page.h"
#include "app/logs/session_page.h"
#include "app/services/session_set.h"
#include "app/view_export.h"
#include "app/views/import_dialog.h"
#include "app/views/preferences_dialog.h"
#include "app/views/sessions_view.h"
#include "app/views/start_page.h"
#include "db/bundle.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "widgets/common/banner.h"
#include "widgets/common/focus_ring.h"
#include "widgets/common/format.h"

namespace tw::app {
namespace {
constexpr int kRecentFiles = 8;
}  // namespace

void MainWindow::openFile(const QString& path) {
  m_whenOpen = {};
  if (ImportService::isLog(path))
    importLog(path);
  else
    m_models.openFile(path);
}

void MainWindow::showPreferences() {
  PreferencesDialog dialog(m_actions, m_workspace, m_models.preparation(), this);
  connect(&dialog, &PreferencesDialog::preparationChosen, this, [this](const Json& choices) {
    m_models.prepare(choices);
    if (m_hub.model() && !m_hub.model()->network.imported.nodes.empty()) openFile(m_hub.model()->path);  // its tasks are others now
  });
  dialog.exec();
}

void MainWindow::askForSizes(const QString& path, const std::vector<frontends::OpenSize>& sizes, const Sizes& known) {
  auto* dialog = new SizesDialog(QFileInfo(path).fileName(), sizes, known, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::accepted, this, [this, dialog, path] { m_models.openSized(path, dialog->sizes()); });
  connect(dialog, &QDialog::rejected, this, &MainWindow::dropOpening);
  dialog->open();
}

void MainWindow::importLog(const QString& path) {
  m_import.preview(path);
  if (m_import.state() != ImportService::State::reading) return;
  auto* dialog = new ImportDialog(m_import, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->open();
}

void MainWindow::chooseLog() {
  const QString path = QFileDialog::getOpenFileName(this, tr("Import log"), QSettings().value(QStringLiteral("folder")).toString(),
                                                    tr("Logs of AutoTVM and Ansor (*.json *.jsonl *.log *.wkl *.tmp);;All files (*)"));
  if (path.isEmpty()) return;
  QSettings().setValue(QStringLiteral("folder"), QFileInfo(path).absolutePath());
  importLog(path);
}

void MainWindow::showImported(const logs::ImportedLog& log) {
  const auto say = [this, log] {
    m_banner->showMessage(
        widgets::Banner::Kind::info,
        tr("%1 trials of %n task(s) imported, %2 of them failures; %3 were already there; %4 lines of no use.", nullptr, static_cast<int>(log.content.tasks.size()))
            .arg(widgets::countText(log.stored), widgets::countText(log.failures), widgets::countText(log.there),
                 widgets::countText(static_cast<qint64>(log.content.problems.size()))));
  };
  if (log.sessions.empty()) return say();
  withModel(log.model, {}, [this, log, say] {
    m_hub.setComparedSessions(log.sessions, SelectionHub::Way::followed);
    m_hub.setSession(log.sessions.front());
    // Sessions of several targets stand side by side; the curve of a single one is in Tune.
    if (log.sessions.size() >= 2)
      setPerspective(QStringLiteral("compare"));
    else if (m_perspective == QLatin1String("explore"))
      setPerspective(QStringLiteral("tune"));
    say();
  });
}

void MainWindow::addRecent(const QString& path) {
  QSettings settings;
  QStringList recent = settings.value(QStringLiteral("recent")).toStringList();
  recent.removeAll(path);
  recent.prepend(path);
  while (recent.size() > kRecentFiles) recent.removeLast();
  settings.setValue(QStringLiteral("recent"), recent);
  m_start->setRecent(recent);
  fillRecent();
}

bool MainWindow::isWorkspace(const QString& path) {
  return path.endsWith(QLatin1String(".twdb"), Qt::CaseInsensitive) || path.endsWith(QLatin1String(".twz"), Qt::CaseInsensitive);
}

void MainWindow::openAny(const QString& path) {
  if (isWorkspace(path))
    openWorkspace(path);
  else if (path.endsWith(QLatin1String(".toml"), Qt::CaseInsensitive))
    openCampaign(path);
  else
    openFile(path);
}

void MainWindow::openCampaign(const QString& path) {
  if (!isWorkspace(path)) return m_campaigns.readPlan(path);
  if (QFileInfo(path) != QFileInfo(m_workspace.path())) openWorkspace(path);
  showCampaigns();
}

void MainWindow::showCampaigns() {
  showStart(false);
  setPerspective(QStringLiteral("compare"));
  raiseView("campaign");
}

void MainWindow::showCampaignTrial(const logs::TrialPlace& trial) {
  const auto& sessions = m_workspace.sessions();
  const auto row = std::find_if(sessions.begin(), sessions.end(), [&](const db::SessionRow& s) { return s.id == trial.session; });
  if (row == sessions.end()) return showMessage(tr("The workspace has no such session."));
  withModel(trial.model, row->target, [this, trial] {
    const auto& ids = m_hub.model()->taskIds;
    const auto at = std::find(ids.begin(), ids.end(), trial.task);
    if (at == ids.end()) return showMessage(tr("The model has no task of this trial any more."));
    m_hub.setTrial(TrialRef{trial.session, static_cast<int>(at - ids.begin()), trial.number});
  });
}

void MainWindow::chooseCampaign() {
  const QString path = QFileDialog::getOpenFileName(this, tr("Open campaign"), QSettings().value(QStringLiteral("folder")).toString(),
                                                    tr("Campaigns (*.toml *.twdb *.twz);;All files (*)"));
  if (path.isEmpty()) return;
  QSettings().setValue(QStringLiteral("folder"), QFileInfo(path).absolutePath());
  openCampaign(path);
}

void MainWindow::chooseFile() {
  const QString path = QFileDialog::getOpenFileName(this, tr("Open"), QSettings().value(QStringLiteral("folder")).toString(),
                                                    tr("Models, workspaces and campaigns (*.onnx *.pt2 *.pt *.te *.twdb *.twz *.toml);;All files (*)"));
  if (path.isEmpty()) return;
  QSettings().setValue(QStringLiteral("folder"), QFileInfo(path).absolutePath());
  openAny(path);
}

void MainWindow::chooseBuildFile() {
  const QString name = m_build.built()->model->name + QStringLiteral(".twx");
  QString path = QFileDialog::getSaveFileName(this, tr("Save built network"), QDir(QSettings().value(QStringLiteral("folder")).toString()).filePath(name), tr("Built networks (*.twx)"));
  if (path.isEmpty()) return;
  if (QFileInfo(path).suffix().isEmpty()) path += QStringLiteral(".twx");
  m_build.save(path);
}

void MainWindow::chooseCodeFolder() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("Folder for the code"), QSettings().value(QStringLiteral("folder")).toString());
  if (!folder.isEmpty()) m_build.exportCode(folder);
}

void MainWindow::newWorkspace() {
  QString path = QFileDialog::getSaveFileName(this, tr("New workspace"), QFileInfo(m_workspace.path()).absolutePath(), tr("Tilewright workspaces (*.twdb)"),
                                              nullptr, QFileDialog::DontConfirmOverwrite);
  if (path.isEmpty()) return;
  if (QFileInfo(path).suffix().isEmpty()) path += QStringLiteral(".twdb");
  if (QFileInfo::exists(path)) return showMessage(tr("There is a file %1 already; a new workspace never replaces one.").arg(path));
  openWorkspace(path);
}

void MainWindow::chooseWorkspace() {
  const QString path = QFileDialog::getSaveFileName(this, tr("Open or create workspace"), m_workspace.path(), tr("Tilewright workspaces (*.twdb);;Bundles of sessions (*.twz)"), nullptr,
                                                    QFileDialog::DontConfirmOverwrite);
  if (!path.isEmpty()) openWorkspace(path);
}

void MainWindow::exportCurrentView(const QString& path) {
  if (const auto done = exportView(*currentView(), path); !done) return showMessage(QString::fromStdString(done.error().text()));
  statusBar()->showMessage(tr("Written: %1").arg(path), 5000);
}

void MainWindow::chooseExport() {
  QString filter;
  const QString path = QFileDialog::getSaveFileName(this, tr("Export view"), QSettings().value(QStringLiteral("exports")).toString(),
                                                    tr("Picture (*.png);;Vectors (*.svg);;Table (*.csv)"), &filter);
  if (path.isEmpty()) return;
  QSettings().setValue(QStringLiteral("exports"), QFileInfo(path).absolutePath());
  exportCurrentView(withEnding(path, filter));
}

void MainWindow::writePage(const QString& path, std::function<Expected<std::string>(db::Database&, StopToken)> make) {
  const auto work = [database = m_workspace.reader(), make = std::move(make), path](StopToken stop) -> Expected<bool> {
    if (!database) return Error(ErrorCode::not_found, "No workspace is open");
    TW_TRY(const std::string page, make(*database, stop));
    TW_CHECK(write_file(path.toStdString(), kAnyOutput, page));
    return true;
  };
  m_reportJob.replace(m_jobs.run<bool>(Lane::database, this, work, [this, path](Expected<bool> done) {
    if (done)
      statusBar()->showMessage(tr("Written: %1").arg(path), 5000);
    else
      showMessage(QString::fromStdString(done.error().text()));
  }));
}

void MainWindow::exportReport(const QString& path) {
  writePage(path, [session = SessionSet::nearest(m_hub, m_workspace)](db::Database& database, StopToken stop) { return logs::session_page(database, session, stop); });
}

void MainWindow::exportTrial(const QString& path) {
  const TrialRef trial = m_hub.trialRef();
  if (!m_hub.model() || trial.number < 0 || !m_workspace.reader()) return;
  writePage(path, [trial, task = m_hub.model()->taskIds.at(static_cast<size_t>(trial.task))](db::Database& database, StopToken) {
    return logs::trial_page(database, trial.session, task, trial.number);
  });
}

void MainWindow::exportComparison(const QString& path) {
  std::vector<db::SessionRow> rows;
  for (const db::SessionRow& row : m_workspace.sessions())
    if (std::ranges::count(m_hub.comparedSessions(), row.id) > 0) rows.push_back(row);
  const std::string leftOut = logs::keep_comparable(rows);
  if (rows.size() < 2) return showMessage(tr("A comparison takes two sessions with times of one kind for one target."));
  if (!leftOut.empty()) showMessage(QString::fromStdString(leftOut));
  writePage(path, [rows](db::Database& database, StopToken stop) -> Expected<std::string> {
    TW_TRY(const logs::SessionComparison comparison, logs::compare_sessions(database, rows, stop));
    return logs::comparison_page(comparison);
  });
}

void MainWindow::exportCampaign(const QString& path) {
  if (!m_campaigns.campaign()) return;
  writePage(path, [campaign = m_campaigns.campaign()](db::Database&, StopToken) { return Expected<std::string>(logs::campaign_page(*campaign)); });
}

void MainWindow::chooseCampaignPage() {
  const QString path = askForPage(tr("Export campaign"), m_campaigns.name() + QStringLiteral(".html"));
  if (!path.isEmpty()) exportCampaign(path);
}

QString MainWindow::askForPage(const QString& title, const QString& name) {
  const QString path = QFileDialog::getSaveFileName(this, title, QSettings().value(QStringLiteral("exports")).toString() + QLatin1Char('/') + name, tr("Web page (*.html)"));
  if (!path.isEmpty()) QSettings().setValue(QStringLiteral("exports"), QFileInfo(path).absolutePath());
  return path;
}

void MainWindow::chooseReport() {
  const QString path = askForPage(tr("Export report"), QStringLiteral("session-%1.html").arg(SessionSet::nearest(m_hub, m_workspace).value));
  if (!path.isEmpty()) exportReport(path);
}

void MainWindow::chooseTrialPage() {
  const QString path = askForPage(tr("Export trial"), QStringLiteral("trial-%1-%2.html").arg(m_hub.trialRef().session.value).arg(m_hub.trial()));
  if (!path.isEmpty()) exportTrial(path);
}

void MainWindow::chooseComparisonPage() {
  const QString path = askForPage(tr("Export comparison"), QStringLiteral("comparison.html"));
  if (!path.isEmpty()) exportComparison(path);
}

void MainWindow::packSessions(const std::vector<SessionId>& sessions, const QString& path) {
  const auto work = [workspace = m_workspace.path().toStdString(), sessions, to = path.toStdString()](StopToken) {
    return db::pack_bundle(workspace, sessions, to);
  };
  m_reportJob.replace(m_jobs.run<db::BundleReport>(Lane::database, this, work, [this, path](Expected<db::BundleReport> done) {
    if (done)
      statusBar()->showMessage(tr("Written: %1, %n session(s) with %2 trials", nullptr, static_cast<int>(done->sessions)).arg(path, widgets::countText(done->trials)), 5000);
    else
      showMessage(QString::fromStdString(done.error().text()));
  }));
}

void MainWindow::chooseBundle() {
  const std::vector<SessionId> sessions = m_sessionsView->selected();  // others may be when the file is chosen
  QString path = QFileDialog::getSaveFileName(this, tr("Share sessions"), QSettings().value(QStringLiteral("exports")).toString() + QStringLiteral("/sessions.twz"),
                                              tr("Bundles of sessions (*.twz)"));
  if (path.isEmpty()) return;
  if (QFileInfo(path).suffix().isEmpty()) path += QStringLiteral(".twz");
  QSettings().setValue(QStringLiteral("exports"), QFileInfo(path).absolutePath());
  packSessions(sessions, path);
}

void MainWindow::copyCurrentView() {
  QWidget* view = currentView();
  auto* data = new QMimeData;
  const widgets::Table table = widgets::tableOf(view);
  QStringList lines;
  if (!table.columns.isEmpty()) lines << table.columns.join(QLatin1Char('\t'));
  for (const QStringList& row : table.rows) lines << row.join(QLatin1Char('\t'));
  if (!lines.isEmpty()) data->setText(lines.join(QLatin1Char('\n')) + QLatin1Char('\n'));
  widgets::hideFocusRing(*view);
  data->setImageData(view->grab().toImage());
  QApplication::clipboard()->setMimeData(data);
  statusBar()->showMessage(lines.isEmpty() ? tr("Copied as a picture") : tr("Copied as a picture and as a table"), 5000);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls() && event->mimeData()->urls().first().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) openAny(url.toLocalFile());
  }
}

}  // namespace tw::app
