// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <optional>

#include "app/services/engine.h"
#include "app/services/job_runner.h"
#include "app/views/view.h"
#include "widgets/charts/why_rules.h"

class QLabel;
class QVBoxLayout;

namespace tw::widgets {
class EmptyState;
class FootprintChart;
class LaunchChart;
class RooflineChart;
}  // namespace tw::widgets

namespace tw::app {

/// Why the shown kernel is as fast as it is: its place under the roofs of the machine, what its loops touch against the caches, rules in
/// words, and what each choice is worth.
class WhyView : public QWidget {
  Q_OBJECT
 public:
  explicit WhyView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new WhyView(services, parent); }
  /// What is shown of the kernel's loops; null while they are being looked at.
  const api::Insight* insight() const { return m_insight && !m_stale ? &*m_insight : nullptr; }

 protected:
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void compute();
  void measureMachine();
  void countEvents();
  void showLoops(widgets::WhyFacts& facts);
  void showLaunches(widgets::WhyFacts& facts);
  void showRoofline(widgets::WhyFacts& facts);
  void showFacts();
  void showRules(std::vector<widgets::WhyRule> rules);
  void colourRules();
  double shownSeconds() const;
  Services& m_services;
  widgets::RooflineChart* m_roofline;
  widgets::FootprintChart* m_footprint;
  widgets::LaunchChart* m_launches;
  widgets::EmptyState* m_state;
  QLabel *m_title, *m_machine;
  QWidget* m_rulesHost;
  QVBoxLayout* m_rules;
  LatestJob m_job, m_machineJob, m_countJob;
  std::optional<measure::Roofline> m_measured;
  std::optional<api::Insight> m_insight;
  std::optional<widgets::WhyCounts> m_counts;  ///< of the shown candidate
  QString m_problem, m_machineProblem;
  std::string m_machineTarget;  ///< whose roofs those are
  std::vector<widgets::WhyRule> m_shownRules;
  std::vector<std::pair<QLabel*, widgets::WhyRule::Kind>> m_sentences;
  bool m_stale = true, m_measuring = false;
};

}  // namespace tw::app
