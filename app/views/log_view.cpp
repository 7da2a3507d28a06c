// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/log_view.h"

#include <QTime>

#include "app/selection_hub.h"
#include "app/services/model_service.h"
#include "app/services/task_board.h"
#include "app/services/trial_service.h"
#include "app/services/tune_service.h"
#include "app/services/workspace.h"
#include "widgets/theme/theme.h"

namespace tw::app {

LogView::LogView(Services& services, QWidget* parent) : QPlainTextEdit(parent) {
  setObjectName(QStringLiteral("view.log.text"));
  setAccessibleName(tr("Log"));
  setReadOnly(true);
  setMaximumBlockCount(5000);
  setFrameShape(QFrame::NoFrame);
  setFont(widgets::codeFont());
  setPlaceholderText(tr("Notes of sessions and messages appear here."));
  connect(&services.tuning, &TuneService::note, this, &LogView::addLine);
  connect(&services.tuning, &TuneService::finished, this, &LogView::addLine);
  connect(&services.tuning, &TuneService::failed, this, &LogView::addLine);
  connect(&services.tuning, &TuneService::sessionStarted, this, [this, &services] { addLine(tr("Session %1 started").arg(services.tuning.session().value)); });
  connect(&services.models, &ModelService::failed, this, [this](const QString&, const QString& details) { addLine(details); });
  connect(&services.models, &ModelService::opened, this, [this](const OpenModelPtr& model) {
    addLine(
        tr("Opened %1: %n task(s), target %2", nullptr, static_cast<int>(model->tasks.size())).arg(model->path, QString::fromStdString(model->target.str())));
  });
  connect(&services.workspace, &Workspace::failed, this, [this](const QString& message) { addLine(message); });
  connect(&services.workspace, &Workspace::opened, this, [this, &services] { addLine(tr("Workspace %1").arg(services.workspace.path())); });
  connect(&services.trials, &TrialService::failed, this, &LogView::addLine);
  connect(&services.tasks, &TaskBoard::failed, this, &LogView::addLine);
}

void LogView::addLine(const QString& text) { appendPlainText(QTime::currentTime().toString(QStringLiteral("HH:mm:ss  ")) + text); }

}  // namespace tw::app
