// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/services/engine.h"
#include "app/services/job_board.h"
#include "app/services/open_model.h"
#include "app/services/tune_service.h"

namespace tw::app {

class SelectionHub;

/// What passes are worth in the open network (api/pass_cost.h), one measurement at a time; kept until another model is opened, and never stored. A session that
/// begins stops it: they would disturb each other.
class PassCostService : public QObject {
  Q_OBJECT
 public:
  PassCostService(Engine& engine, SelectionHub& hub, Workspace& workspace, TuneService& tuning, JobBoard& board, QObject* parent = nullptr);
  /// Measures what leaving these out costs, one after the other; kernel passes in the kernels of one task of the model, or in all of them (`task`: key, or
  /// empty). Nothing happens while it measures, or cannotMeasure() says why, or if the model has no such task.
  void measure(const std::vector<std::string>& passes, const std::string& task);
  /// Why nothing can be measured now; empty if it can.
  QString cannotMeasure() const;
  void stop();
  bool isActive() const { return m_boardJob != 0; }
  /// What it is at; empty if at nothing.
  const QString& state() const { return m_state; }
  /// Of the open model, in the order in which they were found, the newest of each pass and task.
  const std::vector<api::PassCost>& costs() const { return m_costs; }
  /// Null while it is not known. `task`: key, or empty for all kernels.
  const api::PassCost* costOf(const std::string& pass, const std::string& task) const;

 Q_SIGNALS:
  void changed();     ///< costs() or isActive()
  void progressed();  ///< state()

 private:
  void keep(const api::PassCost& cost);
  void end(JobBoard::Outcome outcome, const QString& text = {});
  Engine& m_engine;
  SelectionHub& m_hub;
  Workspace& m_workspace;
  TuneService& m_tuning;
  JobBoard& m_board;
  LatestJob m_job;
  int m_boardJob = 0;
  QString m_state;
  std::vector<api::PassCost> m_costs;
};

}  // namespace tw::app
