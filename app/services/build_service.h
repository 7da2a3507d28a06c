// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "app/services/engine.h"
#include "app/services/job_board.h"
#include "app/services/open_model.h"
#include "app/services/workspace.h"
#include "engine/runtime/executable.h"

namespace tw::app {

/// The open network compiled from the best records of its tasks, run, and written: as `.twx`, as a C library, or the machine code of a GPU.
class BuildService : public QObject {
  Q_OBJECT
 public:
  struct Built {
    OpenModelPtr model;
    runtime::Executable executable;
    std::vector<std::string> notes;  ///< what a person should know of it
    double seconds = 0;              ///< that it took
  };
  BuildService(Engine& engine, Workspace& workspace, JobBoard& board, QObject* parent = nullptr);
  /// Does nothing while one is built.
  void build(const OpenModelPtr& model);
  /// The newest; null before the first and after another model was opened.
  const std::shared_ptr<const Built>& built() const { return m_built; }
  bool isActive() const { return m_boardJob != 0; }
  void stop();
  /// Runs the newest one repeat() times and compares its results with the reference; does nothing while one runs.
  void run();
  bool isRunning() const { return m_runJob != 0; }
  void stopRun();
  /// What the newest one came to when it ran last; none before.
  const std::optional<NetworkRun>& ran() const { return m_ran; }
  int repeat() const { return m_repeat; }
  /// Kept for the next start.
  void setRepeat(int runs);
  static constexpr int kMostRuns = 100'000;
  void forget();
  void save(const QString& path);
  /// For a processor objects, header and runtime for C programs, for a GPU its machine code: files of the network's name, into a folder.
  void exportCode(const QString& folder);

 Q_SIGNALS:
  /// A build or a run began or ended, or there is none any more.
  void changed();
  void written(const QString& what);
  void failed(const QString& message);

 private:
  void write(const QString& what, std::function<Expected<QString>(const Built&)> work);
  Engine& m_engine;
  Workspace& m_workspace;
  JobBoard& m_board;
  LatestJob m_job, m_running;
  std::shared_ptr<const Built> m_built;
  std::optional<NetworkRun> m_ran;
  int m_boardJob = 0, m_runJob = 0, m_repeat = 10;
};

}  // namespace tw::app
