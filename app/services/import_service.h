// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>

#include "app/logs/import_log.h"
#include "app/services/engine.h"
#include "app/services/job_board.h"
#include "app/services/workspace.h"

namespace tw::app {

/// Logs of AutoTVM and Ansor into the workspace: a look at one first, then its import in the background. One log at a time.
class ImportService : public QObject {
  Q_OBJECT
 public:
  enum class State { idle, reading, previewed, importing };
  ImportService(Engine& engine, Workspace& workspace, JobBoard& board, QObject* parent = nullptr);
  /// Whether a file may be a log, by its name.
  static bool isLog(const QString& path);
  /// Reads the log; nothing is stored yet.
  void preview(const QString& path);
  /// Stores the log that was previewed.
  void start();
  /// Stops what runs; trials stored so far stay.
  void cancel();
  State state() const { return m_state; }
  const QString& path() const { return m_path; }
  /// Of the log that was read last; empty before.
  const logs::LogContent& content() const { return m_content; }
  qint64 stored() const { return m_progress ? m_progress->stored.load() : 0; }
  qint64 records() const { return m_progress ? m_progress->records.load() : 0; }

 Q_SIGNALS:
  void stateChanged();
  void progressed();
  /// Every session of the log; some of its trials are missing if it was stopped.
  void imported(const tw::logs::ImportedLog& log);
  void failed(const QString& message);

 private:
  void setState(State state);
  void end(const Expected<logs::ImportedLog>& result);

  Engine& m_engine;
  Workspace& m_workspace;
  JobBoard& m_board;
  JobRunner::Handle m_job;
  QTimer m_poll;
  State m_state = State::idle;
  QString m_path;
  logs::LogContent m_content;
  std::shared_ptr<logs::Log> m_log;  ///< while it waits to be stored
  std::shared_ptr<logs::ImportProgress> m_progress;
  int m_boardJob = 0;
  int m_generation = 0;
};

}  // namespace tw::app
