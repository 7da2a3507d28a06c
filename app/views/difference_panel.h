// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <map>

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
  using Outcomes = std::map<std::pair<std::string, int64_t>, db::TrialOutcome>;
  void invalidate();
  void compute(bool measure);
  void walk(bool measure, std::shared_ptr<const Outcomes> outcomes);
  void show(Expected<api::WhyFaster> why, bool measured);
  void say(const QString& text);
  void addRow(const QStringList& cells, const QString& help);
  Services& m_services;
  QToolButton* m_button;
  QLabel* m_text;
  QTreeWidget* m_table;
  LatestJob m_job;
  bool m_stale = true;
};

}  // namespace tw::app
