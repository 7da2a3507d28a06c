// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSet>
#include <QTimer>
#include <QWidget>

#include "app/services/job_runner.h"
#include "app/services/mark_service.h"
#include "app/views/view.h"
#include "db/database.h"

class QTreeView;

namespace tw::widgets {
class EmptyState;
class SessionModel;
}  // namespace tw::widgets

namespace tw::app {

/// Sessions of the workspace, those of races and groups together; choosing one shows its trials, opening its model first if it is not the open one. They are
/// renamed, grouped, taken out and brought back here.
class SessionsView : public QWidget {
  Q_OBJECT
 public:
  explicit SessionsView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new SessionsView(services, parent); }
  /// Those that are selected, of groups all in them.
  std::vector<SessionId> selected() const;
  /// Writes the name of the current session in its place.
  void rename();
  /// Asks for a group and puts the selected sessions into it; an empty name takes them out.
  void group();
  void remove();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void showSessions();
  void showSelection();
  void choose(const db::SessionRow& session);
  void chooseWanted();
  void readFacts();
  void showFacts(const std::vector<db::BestRow>& bests, const std::map<int64_t, QString>& names, const std::map<int64_t, double>& networks);
  void showLive();
  void open(const QModelIndex& parent);
  void setNote(SessionId session, const std::function<void(MarkService::Mark&)>& change);
  Services& m_services;
  widgets::SessionModel* m_model;
  QTreeView* m_table;
  widgets::EmptyState* m_state;
  QSet<QString> m_closed;  ///< groups that were closed by hand
  LatestJob m_facts;
  QTimer m_live;
  std::vector<SessionId> m_kept;  ///< selected, while the rows are made anew
  qint64 m_wanted = 0;  ///< session to select once its model is open
  bool m_quiet = false;
};

}  // namespace tw::app
