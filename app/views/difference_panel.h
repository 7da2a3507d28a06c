// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <QTimer>
#include <atomic>
#include <map>
#include <tuple>

#include "app/services/job_board.h"
#include "app/services/job_runner.h"
#include "app/views/view.h"
#include "db/database.h"
#include "engine/api/why_faster.h"

class QLabel;
class QToolButton;
class QTreeWidget;

namespace tw::app {

/// Why the shown point is faster or slower than the candidate that the code is compared with: what each choice in which they differ explains, by stored trials or
/// measured when asked for, and what else tells them apart.
class DifferencePanel : public QWidget {
  Q_OBJECT
 public:
  DifferencePanel(Services& services, QWidget* parent);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  /// By space, and place in it or choices by name.
  using Outcomes = std::map<std::tuple<std::string, int64_t, std::string>, db::TrialOutcome>;
  static Outcomes::key_type keyOf(const std::string& space, int64_t index, const std::string& config) { return {space, index, index < 0 ? config : std::string()}; }
  /// Points asked for and all of them, as the job counts them.
  struct Asked {
    std::atomic<size_t> done = 0, all = 0;
  };
  void invalidate();
  /// The task and both candidates, to be told from others.
  std::string pairNow() const;
  void compute(bool measure);
  void walk(bool measure, std::shared_ptr<const Outcomes> outcomes);
  void show(Expected<api::WhyFaster> why, bool measured);
  /// Ends the job in the list of jobs, if there is one.
  void endJob(JobBoard::Outcome outcome, const QString& text = {});
  void choosePage();
  void say(const QString& text);
  void addRow(const QStringList& cells, const QString& help);
  Services& m_services;
  QToolButton *m_button, *m_pageButton;
  QLabel* m_text;
  QTreeWidget* m_table;
  LatestJob m_job, m_pageJob;
  std::shared_ptr<Asked> m_asked;
  QTimer m_tick;
  int m_boardJob = 0;
  std::optional<api::WhyFaster> m_why;  ///< that is shown
  bool m_isMeasured = false;
  std::string m_pair;  ///< whose difference is shown or being looked for
  bool m_stale = true;
};

}  // namespace tw::app
