// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSet>
#include <QWidget>

#include "app/services/job_runner.h"
#include "app/views/view.h"
#include "db/database.h"

class QLineEdit;
class QSortFilterProxyModel;
class QStandardItem;
class QStandardItemModel;
class QTreeView;

namespace tw::widgets {
class EmptyState;
}

namespace tw::app {

/// All that the workspace holds as a tree: models, their tasks, the sessions that tried them.
class NavigatorView : public QWidget {
  Q_OBJECT
 public:
  explicit NavigatorView(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new NavigatorView(services, parent); }

 private:
  struct Contents {
    std::vector<db::ModelRow> models;
    std::vector<std::vector<db::ModelTaskRow>> tasks;  ///< per model
    std::vector<db::SessionRow> sessions;
    std::vector<db::BestRow> tried;
  };
  /// What a row stands for; zero ids are absent.
  struct Place {
    ModelId model;
    TaskId task;
    SessionId session;
  };
  void load();
  void show(const Contents& contents);
  QStandardItem* addRow(QStandardItem* parent, const QString& text, const Place& place, const QString& noun);
  Place placeOf(const QModelIndex& index) const;
  void choose(const QModelIndex& index, bool open);
  /// Selects in the hub what waits for its model to be open.
  void finishChoice();
  void showSelection();
  void showMarks();
  Services& m_services;
  QLineEdit* m_filter;
  QTreeView* m_tree;
  QStandardItemModel* m_model;
  QSortFilterProxyModel* m_filtered;
  widgets::EmptyState* m_state;
  LatestJob m_job;
  Place m_wanted;
  QSet<QString> m_expanded;
  bool m_quiet = false;
};

}  // namespace tw::app
