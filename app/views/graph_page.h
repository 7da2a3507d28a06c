// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "app/services/job_runner.h"
#include "app/views/view.h"
#include "widgets/graph/graph_scene.h"

class QAction;
class QComboBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QToolButton;

namespace tw::widgets {
class EmptyState;
class GraphView;
}  // namespace tw::widgets

namespace tw::app {

/// The model graph with its search and zoom bar; laid out on a worker thread.
class GraphPage : public QWidget {
  Q_OBJECT
 public:
  explicit GraphPage(Services& services, QWidget* parent = nullptr);
  widgets::GraphView* view() { return m_view; }
  void startSearch();
  bool isLayingOut() const { return m_layingOut; }

 Q_SIGNALS:
  void laidOut();

 private:
  enum Shown { Fused, Optimized, Imported };
  void layOut();
  void cancelLayout();
  void search(bool next);
  void showNode();
  /// Marks the nodes that the selected place of the code came from.
  void showLinked();
  Services& m_services;
  widgets::GraphView* m_view;
  widgets::EmptyState* m_state;
  QAction* m_again;
  QLineEdit* m_search;
  QLabel *m_matches, *m_zoom, *m_caption;
  QComboBox* m_shown;
  QWidget* m_progress;
  LatestJob m_job;
  std::vector<int> m_found;
  int m_at = -1;
  bool m_layingOut = false;
};

}  // namespace tw::app
