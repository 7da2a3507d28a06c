// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "app/services/engine.h"
#include "app/services/job_runner.h"
#include "app/services/open_model.h"
#include "app/services/workspace.h"

namespace tw::app {

/// Opens networks: reads the file and runs the graph passes, which is when the graph can be shown; cuts it into tasks, enters it into the workspace.
class ModelService : public QObject {
  Q_OBJECT
 public:
  ModelService(Engine& engine, JobRunner& jobs, Workspace& workspace, QObject* parent = nullptr);
  /// Asks for the sizes that the file leaves open before it reads it (sizesWanted).
  void openFile(const QString& path);
  /// With these sizes, which are remembered for the file.
  void openSized(const QString& path, const std::map<std::string, int64_t>& sizes);
  /// A bundled network, written as an ONNX file first.
  void openZoo(const QString& name, bool tiny, int64_t batch = 1);
  /// Asks for what the file leaves open, of a bundled network for its batch (sizesWanted); says so if it leaves nothing open.
  void askSizes(const QString& path);
  /// Of a bundled network on this machine: bytes of its file, 0 before it was opened once, and seconds until its graph was there the last time.
  struct ZooFile {
    qint64 bytes = 0;
    double seconds = 0;
  };
  static ZooFile zooFile(const QString& name, bool tiny);
  /// A model of the workspace: its file, or for one that stands for a log its tasks alone, without a graph.
  void openStored(ModelId id);
  /// How networks are made ready from now on, at the next start too: choices of api::preparation_schema().
  Json preparation() const;
  void prepare(const Json& choices);
  void cancel();
  bool isBusy() const { return m_busy; }

 Q_SIGNALS:
  void busyChanged(const QString& what);  ///< empty: idle
  /// What it does now, and how much of that is done; `total` 0: unknown.
  void progressed(const QString& stage, int done, int total);
  /// A model that has its graph and no tasks yet. opened() with all of it follows, or failed() or cancelled().
  void graphRead(const tw::app::OpenModelPtr& begun);
  void cancelled();
  void opened(const tw::app::OpenModelPtr& model);
  /// A file leaves sizes open; openSized goes on. `known`: what it was opened with before.
  void sizesWanted(const QString& path, const std::vector<tw::frontends::OpenSize>& sizes, const std::map<std::string, int64_t>& known);
  void failed(const QString& message, const QString& details);

 private:
  /// A computation of one's own as the workspace keeps it: its file, or where that is gone or was changed since, a copy.
  void openText(const QString& path, const QString& key, const std::string& text);
  void runJob(const QString& what, const QString& name, std::function<Expected<OpenModelPtr>(StopToken)> work);
  using Stage = std::function<void(const QString& what)>;
  /// `file` says where the model's file is, which may have to be written first.
  void run(const QString& what, std::function<Expected<std::string>(const Stage&)> file, const QString& name, const std::map<std::string, int64_t>& sizes = {});
  void finish();
  /// Stamps the file of a bundled network as whole once it is on the disk, for which no graph waits.
  void keepZooFile(const QString& path);
  Engine& m_engine;
  JobRunner& m_jobs;
  Workspace& m_workspace;
  LatestJob m_job, m_sizesJob;
  bool m_busy = false;
};

}  // namespace tw::app
