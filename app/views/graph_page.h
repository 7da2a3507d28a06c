// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>
#include <map>
#include <set>

#include "app/services/job_runner.h"
#include "app/services/open_model.h"
#include "app/views/view.h"
#include "widgets/graph/graph_blocks.h"
#include "widgets/graph/graph_overlay.h"

class QAction;
class QComboBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QProgressBar;
class QToolButton;

namespace tw::widgets {
class EmptyState;
class GraphView;
class PropertyTree;
}  // namespace tw::widgets

namespace tw::app {

/// The model graph with its search and zoom bar, as kernels, as blocks that open and close, or operator by operator; laid out on a worker thread. An overlay
/// shows where the time goes, what is tuned, or how two sessions differ; a list what reading and the passes changed.
class GraphPage : public QWidget {
  Q_OBJECT
 public:
  explicit GraphPage(Services& services, QWidget* parent = nullptr);
  static QWidget* create(Services& services, QWidget* parent) { return new GraphPage(services, parent); }
  widgets::GraphView* view() { return m_view; }
  void startSearch();

 Q_SIGNALS:
  void laidOut();
  /// The graph of a model is drawn whose tasks are being made; laidOut() follows when it has them.
  void drawnFirst();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  enum Shown { Fused, Blocks, Optimized, Imported };
  struct Drawing {
    std::shared_ptr<const widgets::GraphScene> scene;
    std::shared_ptr<const widgets::GraphBlocks> blocks;
  };
  /// Of the shown graph; around a block, or where it was, what is drawn stays until the new drawing takes its place.
  void layOut(int around = -1);
  void toggleBlock(int block, bool open);
  void openBlocks(bool all);
  void showMenu(const QPoint& at);
  widgets::GraphGrouping kernels(const OpenModel& model) const;
  void showOverlay();
  /// What each node took when the built network ran last.
  std::vector<widgets::GraphOverlay::Part> partsAsRan(const OpenModel& model) const;
  void readSessions();
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
  QHBoxLayout *m_firstRow, *m_secondRow, *m_searchRow;
  bool m_isNarrow = false;
  QComboBox *m_shown, *m_overlay;
  QToolButton *m_openAll, *m_closeAll, *m_changes;
  widgets::PropertyTree* m_changed;
  QWidget* m_progress;
  LatestJob m_job, m_sessionsJob;
  QTimer m_refresh;
  OpenModelPtr m_model;                                  ///< that is drawn
  std::shared_ptr<const widgets::GraphBlocks> m_blocks;  ///< of the open model, once they were looked at
  std::set<int> m_open;                                  ///< blocks that show their insides
  std::vector<std::map<int64_t, double>> m_bests;        ///< of the two compared sessions, seconds by task id
  std::vector<int> m_found;
  int m_at = -1;
};

}  // namespace tw::app
