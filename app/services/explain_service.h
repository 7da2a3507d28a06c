// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>

#include "app/selection_hub.h"
#include "app/services/engine.h"
#include "app/services/job_runner.h"
#include "app/services/tune_service.h"
#include "app/services/workspace.h"
#include "widgets/ir/code_view.h"
#include "widgets/tuning/knob_text.h"

namespace tw::app {

/// Makes the listings of what is selected: a trial, a point of the space, or else the best (or default) schedule of the task.
class ExplainService : public QObject {
  Q_OBJECT
 public:
  ExplainService(Engine& engine, SelectionHub& hub, JobRunner& jobs, Workspace& workspace, TuneService& tuning, QObject* parent = nullptr);
  /// Config spaces of the selected task, one a template, those that a search goes through first; empty until spacesKnown() or if the task has none.
  const std::vector<Engine::Space>& spaces() const { return m_spaces; }
  bool spacesKnown() const { return m_spacesKnown; }
  /// The one that the selected point belongs to; without a name if there is none.
  const Engine::Space& space() const;
  widgets::SpaceMap spaceMap() const;
  /// Chooses another space by hand, at its first point.
  void setSpace(const std::string& name);
  /// What is shown, with the candidate it is of; null while nothing is.
  const std::shared_ptr<const api::Explanation>& explanation() const { return m_explanation; }
  /// Whether what is shown is not yet that of the selection.
  bool isPending() const { return m_isPending; }
  /// Why nothing is shown, where what is selected cannot be built; empty while it is still being looked at.
  const QString& problem() const { return m_problem; }
  const records::Candidate& candidate() const { return m_candidate; }
  const QString& title() const { return m_title; }
  /// The candidate that the shown one is compared with, and what it is called; null while there is none.
  const std::shared_ptr<const api::Explanation>& base() const { return m_baseExplanation; }
  const records::Candidate& baseCandidate() const { return m_baseCandidate; }
  const QString& baseTitle() const { return m_baseTitle; }
  /// What belongs to a place in the shown code: lines of a form, or nodes of the optimised graph.
  std::vector<int> related(const widgets::CodePlace& place, widgets::CodeLanguage to) const;
  std::vector<int> nodesOf(const widgets::CodePlace& place) const;
  /// Lines of a form that a node of the optimised graph became.
  std::vector<int> linesOfNode(int node, widgets::CodeLanguage form) const;

 Q_SIGNALS:
  void spaceChanged();
  void busy(const QString& what);
  void explained(const tw::widgets::CodeListing& listing);
  /// Steps, loops and TIR of a point of the space are there before explained(), which compiles.
  void outlined(const tw::widgets::CodeListing& listing);
  /// base() is another one.
  void baseExplained();
  /// The base cannot be shown, and why.
  void baseFailed(const QString& reason);
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
  void loadSpaces();
  bool selectSpace(const std::string& name);
  /// What is known of another task is no answer, not even an old one: its steps do not fit this one.
  void forget();
  /// Explains the selection when all that one click changes has changed.
  void ask();
  void explainSelection();
  void explainBase();
  Finder findTrial(const TrialRef& trial) const;
  Finder findConfig(qint64 index) const;
  Finder findBest() const;
  Finder findDefault() const;
  using Explain = decltype(&Engine::explain);
  /// Finds a candidate of the selected task and explains it by `explain`, on a worker thread.
  std::function<Expected<Explained>(StopToken)> explaining(Finder finder, Explain explain = &Engine::explain) const;
  void run(const QString& what, Finder finder);
  /// What needs no machine code, which is there sooner.
  void runOutline(Finder finder);
  /// The texts of an explanation, without what links them.
  widgets::CodeListing listingOf(const Explained& explained) const;
  void show(Expected<Explained> result);
  void followBest();

  Engine& m_engine;
  SelectionHub& m_hub;
  JobRunner& m_jobs;
  Workspace& m_workspace;
  TuneService& m_tuning;
  LatestJob m_spaceJob, m_job, m_outlineJob, m_baseJob;
  std::vector<Engine::Space> m_spaces;
  size_t m_space = 0;
  bool m_spacesKnown = false, m_isPending = false;
  std::string m_wantedSpace;  ///< of the selected candidate
  std::shared_ptr<const api::Explanation> m_explanation;
  records::Candidate m_candidate;
  QString m_problem, m_title;
  std::shared_ptr<const api::Explanation> m_baseExplanation;
  records::Candidate m_baseCandidate;
  QString m_baseTitle;
  QTimer m_follow, m_refresh;
  double m_shownBest = 0;
};

}  // namespace tw::app
