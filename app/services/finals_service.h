// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/services/engine.h"
#include "app/services/job_board.h"
#include "app/services/open_model.h"
#include "app/services/tune_service.h"

namespace tw::app {

/// What won alone, tried inside the network (api/network_finals.h), one network at a time; stored in the workspace. A session that begins stops it: they would
/// disturb each other.
class FinalsService : public QObject {
  Q_OBJECT
 public:
  FinalsService(Engine& engine, Workspace& workspace, TuneService& tuning, JobBoard& board, QObject* parent = nullptr);
  /// Nothing happens while one is running, a session is, or the workspace cannot be written. `session`: after which;
  /// `on`: the device that runs the network, as the session's; empty: what there is for its target.
  void start(const OpenModelPtr& model, std::optional<SessionId> session, const std::string& on = {});
  bool isActive() const { return m_boardJob != 0; }

 Q_SIGNALS:
  void changed();
  /// Measured and stored.
  void finished(const tw::app::OpenModelPtr& model, const tw::api::NetworkFinals& finals);
  void failed(const QString& message);

 private:
  void stop();
  void end(JobBoard::Outcome outcome, const QString& text = {});
  Engine& m_engine;
  Workspace& m_workspace;
  TuneService& m_tuning;
  JobBoard& m_board;
  LatestJob m_job;
  int m_boardJob = 0;
};

}  // namespace tw::app
