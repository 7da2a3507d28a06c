// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/import_service.h"

#include <QFileInfo>

#include "engine/base/json.h"

namespace tw::app {
namespace {

/// Refers to `target`.
logs::ImportOptions optionsOf(Engine& engine, const Target& target) {
  logs::ImportOptions options;
  options.host = engine.host(target);
  options.target = &target;
  return options;
}

}  // namespace

ImportService::ImportService(Engine& engine, Workspace& workspace, JobBoard& board, QObject* parent)
    : QObject(parent), m_engine(engine), m_workspace(workspace), m_board(board) {
  m_poll.setInterval(100);
  connect(&m_poll, &QTimer::timeout, this, [this] {
    m_board.setProgress(m_boardJob, stored(), records());
    Q_EMIT progressed();
  });
}

bool ImportService::isLog(const QString& path) {
  const QString name = QFileInfo(path).fileName().toLower();
  return name.endsWith(QLatin1String(".json")) || name.endsWith(QLatin1String(".jsonl")) || name.endsWith(QLatin1String(".log")) ||
         name.endsWith(QLatin1String(".wkl")) || name.endsWith(QLatin1String(".tmp"));
}

void ImportService::setState(State state) {
  m_state = state;
  Q_EMIT stateChanged();
}

void ImportService::preview(const QString& path) {
  if (m_state == State::reading || m_state == State::importing) {
    Q_EMIT failed(tr("Another log is being imported; wait for it or stop it first."));
    return;
  }
  if (!m_workspace.reader()) {
    Q_EMIT failed(tr("No workspace is open to import into."));
    return;
  }
  m_path = path;
  m_content = {};
  m_log.reset();
  m_progress.reset();
  ++m_generation;
  using LogPtr = std::shared_ptr<logs::Log>;
  const auto work = [&engine = m_engine, reader = m_workspace.reader(), file = path.toStdString()](StopToken stop) -> Expected<LogPtr> {
    const Target target = engine.target();
    TW_TRY(logs::Log log, logs::read_log(*reader, file, optionsOf(engine, target), stop));
    return std::make_shared<logs::Log>(std::move(log));
  };
  m_job = m_workspace.jobs().run<LogPtr>(Lane::work, this, work, [this, generation = m_generation](Expected<LogPtr> log) {
    if (generation != m_generation) return;
    if (!log) {
      setState(State::idle);
      Q_EMIT failed(QString::fromStdString(log.error().text()));
      return;
    }
    m_log = std::move(*log);
    m_content = m_log->content;
    setState(State::previewed);
  });
  setState(State::reading);
}

void ImportService::start() {
  if (m_state != State::previewed) return;
  if (!m_workspace.isWritable()) {
    Q_EMIT failed(tr("The workspace is open for reading only."));
    return;
  }
  m_progress = std::make_shared<logs::ImportProgress>();
  m_boardJob = m_board.begin(tr("Importing %1").arg(QFileInfo(m_path).fileName()), [this] { cancel(); });
  const auto stop = std::make_shared<StopSource>();
  const auto work = [&engine = m_engine, database = m_workspace.database(), log = std::exchange(m_log, nullptr), progress = m_progress,
                     stop](StopToken closing) -> Expected<logs::ImportedLog> {
    const std::stop_callback also(closing, [stop] { stop->request_stop(); });
    const Target target = engine.target();
    return logs::store_log(*database, std::move(*log), optionsOf(engine, target), stop->get_token(), *progress);
  };
  // A stopped import still says what it stored, so that it is stopped by a token of its own.
  m_workspace.jobs().run<logs::ImportedLog>(Lane::work, this, work, [this](Expected<logs::ImportedLog> result) { end(result); });
  m_job = stop;
  m_poll.start();
  setState(State::importing);
}

void ImportService::end(const Expected<logs::ImportedLog>& result) {
  m_poll.stop();
  const bool stopped = m_job && m_job->stop_requested();
  setState(State::idle);
  m_workspace.refreshSessions();
  if (!result) {
    m_board.end(m_boardJob, stopped ? JobBoard::Outcome::cancelled : JobBoard::Outcome::failed, QString::fromStdString(result.error().text()));
    Q_EMIT failed(QString::fromStdString(result.error().text()));
    return;
  }
  m_board.end(m_boardJob, stopped ? JobBoard::Outcome::cancelled : JobBoard::Outcome::done,
              tr("%1 trials stored, %2 already there, %3 lines of no use").arg(result->stored).arg(result->there).arg(result->content.problems.size()));
  Q_EMIT imported(*result);
}

void ImportService::cancel() {
  if (m_job) m_job->request_stop();
  if (m_state == State::importing) return;  // it ends by itself, and says what it stored
  ++m_generation;
  m_log.reset();
  if (m_state != State::idle) setState(State::idle);
}

}  // namespace tw::app
