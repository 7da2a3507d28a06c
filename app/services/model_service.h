// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "app/services/engine.h"
#include "app/services/job_runner.h"
#include "app/services/open_model.h"
#include "app/services/workspace.h"

namespace tw::app {

/// Opens networks: reads the file, runs the graph passes, cuts it into tasks, enters it into the workspace.
class ModelService : public QObject {
  Q_OBJECT
 public:
  ModelService(Engine& engine, JobRunner& jobs, Workspace& workspace, QObject* parent = nullptr);
  void openFile(const QString& path);
  /// A bundled network, written as an ONNX file first.
  void openZoo(const QString& name, bool tiny);
  /// A model of the workspace: its file, or for one that stands for a log its tasks alone, without a graph.
  void openStored(ModelId id);
  void cancel();
  bool isBusy() const { return m_busy; }

 Q_SIGNALS:
  void busyChanged(const QString& what);  ///< empty: idle
  void opened(const tw::app::OpenModelPtr& model);
  void failed(const QString& message, const QString& details);

 private:
  void runJob(const QString& what, const QString& name, std::function<Expected<OpenModelPtr>(StopToken)> work);
  void run(const QString& what, std::function<Expected<std::string>()> file, const QString& name);
  void finish();
  Engine& m_engine;
  JobRunner& m_jobs;
  Workspace& m_workspace;
  LatestJob m_job;
  bool m_busy = false;
};

}  // namespace tw::app
