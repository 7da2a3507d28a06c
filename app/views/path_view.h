// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>
#include <map>

#include "app/services/job_runner.h"
#include "app/views/view.h"
#include "widgets/charts/session_timeline.h"

class QLabel;
class QStandardItemModel;
class QTreeView;

namespace tw::widgets {
class EmptyState;
class TimelineChart;
}  // namespace tw::widgets

namespace tw::app {

/// The measuring path of a session: its time in lanes, and the candidates of a round with where each is or what became of it. Of a session that runs the newest
/// round is followed as it is built and measured.
class PathView : public QWidget {
  Q_OBJECT
 public:
  explicit PathView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new PathView(services, parent); }

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  /// What is stored of a session.
  struct Stored {
    std::vector<records::Round> rounds;
    std::vector<widgets::TimelineTask> tasks;
    std::vector<db::EventRow> events;
    std::map<std::string, int64_t> ids;  ///< of tasks, by key
  };
  /// The session that is meant: the one that runs, else the selected one or the newest.
  SessionId wanted() const;
  bool isLive() const;
  double extractSeconds() const;  ///< that extracting the tasks took, 0: not known
  void read();
  void showSession();
  void showTimeline();
  void showTotals();
  void showCandidates();
  void showBatch();
  void showRound();
  void chooseRound(int64_t round);
  void chooseTrial(int row);
  void setRow(int row, const QStringList& texts, bool failed);

  Services& m_services;
  widgets::TimelineChart* m_chart;
  QLabel *m_title, *m_totals, *m_heading;
  QTreeView* m_table;
  QStandardItemModel* m_rows;
  widgets::EmptyState* m_state;
  QTimer m_soon, m_reread;
  LatestJob m_job;
  SessionId m_session;
  Stored m_stored;
  int64_t m_round = 0;  ///< that somebody chose; 0: the newest
};

}  // namespace tw::app
