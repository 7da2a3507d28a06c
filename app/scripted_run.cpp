// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/scripted_run.h"

#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QPixmap>
#include <QTextStream>
#include <QTimer>

#include "app/main_window.h"
#include "app/playback_bar.h"
#include "app/services/session_set.h"
#include "app/views/graph_page.h"
#include "app/views/tune_view.h"

namespace tw::app {

ScriptedRun::ScriptedRun(MainWindow& window, Plan plan, QObject* parent) : QObject(parent), m_window(window), m_plan(std::move(plan)) {}

void ScriptedRun::start() {
  m_window.askQuit = [] { return MainWindow::QuitChoice::stop; };
  m_window.resize(m_plan.size);
  m_window.resetLayout();
  if (!m_plan.waitForModel) return modelReady();
  connect(&m_window.models(), &ModelService::failed, this, [this](const QString& message, const QString& details) {
    QTextStream(stderr) << message << '\n' << details << '\n';
    quit(1);
  });
  // Nobody is there to answer.
  connect(&m_window.models(), &ModelService::sizesWanted, this, [this](const QString& path, const std::vector<frontends::OpenSize>& sizes) {
    QStringList names;
    for (const frontends::OpenSize& s : sizes)
      if (!s.is_input) names << QStringLiteral("--dim %1=%2").arg(QString::fromStdString(s.name)).arg(s.proposal);
    QTextStream(stderr) << tr("%1 leaves sizes open; give them, such as %2").arg(path, names.join(QLatin1Char(' '))) << '\n';
    quit(3);
  });
  connect(&m_window.graphPage(), &GraphPage::laidOut, this, &ScriptedRun::modelReady, Qt::SingleShotConnection);
}

void ScriptedRun::modelReady() {
  m_window.resetLayout();  // the docks have their final contents now
  if (m_plan.task >= 0) m_window.hub().setTask(m_plan.task);
  if (m_plan.trials > 0) {
    tune::SessionOptions options = m_window.tuneView().options();
    options.trials = m_plan.trials;
    options.trials_per_task = 0;
    options.seed = m_plan.seed;
    if (!m_plan.tuner.isEmpty()) options.tuner = m_plan.tuner.toStdString();
    m_window.tuneView().setOptions(options);
    m_window.tuneView().setOnlySelectedTask(m_plan.onlyTask);
    connect(&m_window.tuning(), &TuneService::failed, this, [this](const QString& message) {
      QTextStream(stderr) << message << '\n';
      quit(1);
    });
    m_window.startTuning();
    if (!m_window.tuning().isActive()) {
      QTextStream(stderr) << m_window.actions().get(QStringLiteral("tune.start"))->toolTip() << '\n';
      return quit(1);
    }
  }
  QTimer::singleShot(static_cast<int>(m_plan.afterSeconds * 1000), this, [this] {
    if (m_plan.trial >= 0) m_window.trials().choose(m_plan.trial);
    arrange();
    const bool more = m_plan.trial >= 0 || m_plan.compared > 0 || m_plan.playedTo >= 0 || !m_plan.panels.isEmpty() || !m_plan.choices.isEmpty();
    QTimer::singleShot(more ? 2500 : 0, this, &ScriptedRun::takePicture);
  });
}

void ScriptedRun::arrange() {
  std::vector<SessionId> newest;
  const auto& sessions = m_window.workspace().sessions();
  for (auto row = sessions.rbegin(); row != sessions.rend() && static_cast<int>(newest.size()) < m_plan.compared; ++row) newest.insert(newest.begin(), row->id);
  if (m_plan.playedTo >= 0) {
    if (newest.empty()) newest = {SessionSet::nearest(m_window.hub(), m_window.workspace())};
    PlaybackClock& clock = m_window.hub().playback();
    connect(&clock, &PlaybackClock::sessionsChanged, this, [this, &clock] { clock.setAt(m_plan.playedTo * clock.length()); });
    m_window.findChild<PlaybackBar*>()->play(newest);
  }
  if (!newest.empty()) m_window.hub().setComparedSessions(std::move(newest));
  for (const QString& choice : m_plan.choices) {
    if (auto* box = m_window.findChild<QComboBox*>(choice.section(QLatin1Char('='), 0, 0))) box->setCurrentIndex(choice.section(QLatin1Char('='), 1).toInt());
  }
  if (!m_plan.against.isEmpty())
    m_window.hub().setCodeBase({m_plan.against == QLatin1String("best") ? CodeBase::Kind::best : CodeBase::Kind::defaultSchedule, {}});
  for (const QString& panel : m_plan.panels) {
    if (auto* dock = m_window.findChild<QDockWidget*>(QStringLiteral("dock.") + panel)) dock->show(), dock->raise();
  }
}

void ScriptedRun::takePicture() {
  if (m_plan.picture.isEmpty()) return quit(0);
  const bool saved = m_window.grab().save(m_plan.picture);
  if (!saved) QTextStream(stderr) << tr("The picture cannot be written to %1").arg(m_plan.picture) << '\n';
  quit(saved ? 0 : 1);
}

void ScriptedRun::quit(int code) {
  // The session ends first, so that its state is stored.
  if (!m_window.tuning().isActive()) return QApplication::exit(code);
  connect(&m_window.tuning(), &TuneService::stateChanged, this, [this, code] {
    if (!m_window.tuning().isActive()) QApplication::exit(code);
  });
  m_window.tuning().cancel();
}

}  // namespace tw::app
