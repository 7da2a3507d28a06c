// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>

#include "app/selection_hub.h"
#include "app/services/engine.h"
#include "app/services/job_runner.h"
#include "app/services/tune_service.h"
#include "app/services/workspace.h"
#include "widgets/ir/code_view.h"

namespace tw::app {

/// Makes the listings of what is selected: a trial, a point of the space, or else the best (or default) schedule of the task.
class ExplainService : public QObject {
  Q_OBJECT
 public:
  ExplainService(Engine& engine, SelectionHub& hub, JobRunner& jobs, Workspace& workspace, TuneService& tuning, QObject* parent = nullptr);
  /// Config space of the selected task; its `space` is null until spaceChanged() or if the task has none.
  const Engine::Space& space() const { return m_space; }
  /// What is shown, with the candidate it is of; null while nothing is.
  const std::shared_ptr<const api::Explanation>& explanation() const { return m_explanation; }
  const records::Candidate& candidate() const { return m_candidate; }
  /// What belongs to a place in the shown code: lines of a form, or nodes of the optimised graph.
  std::vector<int> related(const widgets::CodePlace& place, widgets::CodeLanguage to) const;
  std::vector<int> nodesOf(const widgets::CodePlace& place) const;
  /// Lines of a form that a node of the optimised graph became.
  std::vector<int> linesOfNode(int node, widgets::CodeLanguage form) const;

 Q_SIGNALS:
  void spaceChanged();
  void busy(const QString& what);
  void explained(const tw::widgets::CodeListing& listing);
  /// Why the chosen point cannot be built, empty if it can.
  void reasonChanged(const QString& reason);

 private:
  /// A candidate with what it is called on screen.
  struct Found {
    QString title;
    records::Candidate candidate;
  };
  struct Explained {
    Found found;
    api::Explanation explanation;
  };
  using Finder = std::function<Expected<Found>(StopToken)>;
  void loadSpace();
  void explainSelection();
  Finder findTrial(qint64 number) const;
  Finder findConfig(qint64 index) const;
  Finder findBest() const;
  void run(const QString& what, Finder finder);
  void show(Expected<Explained> result);
  void followBest();

  Engine& m_engine;
  SelectionHub& m_hub;
  JobRunner& m_jobs;
  Workspace& m_workspace;
  TuneService& m_tuning;
  LatestJob m_spaceJob, m_job;
  Engine::Space m_space;
  std::shared_ptr<const api::Explanation> m_explanation;
  records::Candidate m_candidate;
  QTimer m_follow, m_refresh;
  double m_shownBest = 0;
};

}  // namespace tw::app
