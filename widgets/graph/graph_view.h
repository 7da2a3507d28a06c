// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>
#include <memory>
#include <vector>

#include "widgets/graph/graph_scene.h"

namespace tw::widgets {

struct Theme;

/// Draws a graph scene: wheel scrolls, Ctrl+wheel zooms at the pointer, dragging pans, F fits, arrow keys walk along edges. Detail follows the zoom.
class GraphView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit GraphView(QWidget* parent = nullptr);

  void setScene(std::shared_ptr<const GraphScene> scene);
  const GraphScene* scene() const { return m_scene.get(); }
  void setSelectedNode(int sceneNode);
  int selectedNode() const { return m_selected; }
  /// The task whose frames stand out; -1 for none.
  void setCurrentTask(int task);
  void setMatches(std::vector<int> sceneNodes);
  /// Nodes that belong to what is selected elsewhere, such as a line of code.
  void setLinkedNodes(const std::vector<int>& sceneNodes);
  void fit();
  /// The whole graph if it can be read so, else its beginning at a readable size.
  void showStart();
  void zoomBy(double factor);
  void resetZoom();
  void revealNode(int sceneNode);
  void revealTask(int task);
  double zoom() const { return m_zoom; }
  void setShowEdgeLabels(bool show);

 Q_SIGNALS:
  void nodeActivated(int sceneNode);  ///< -1: nothing selected
  void taskActivated(int task);
  void zoomChanged(double zoom);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  QPointF toScene(const QPointF& viewportPoint) const;
  QRectF visibleScene() const;
  void setZoom(double zoom, const QPointF& anchor);
  void updateScrollBars();
  void centreOn(const QPointF& scenePoint);
  void walk(int key);
  void paintFrames(QPainter& p, const Theme& theme, const QRectF& visible);
  void paintTitles(QPainter& p, const Theme& theme, const QRectF& visible);
  void paintEdges(QPainter& p, const Theme& theme, const QRectF& visible);
  void paintNodes(QPainter& p, const Theme& theme, const QRectF& visible);
  void paintOverview(QPainter& p, const Theme& theme);
  QString describe() const;

  std::shared_ptr<const GraphScene> m_scene;
  double m_zoom = 1;
  bool m_fitPending = false, m_fitted = false, m_edgeLabels = true;
  int m_selected = -1, m_task = -1, m_hover = -1;
  std::vector<char> m_isMatch, m_isLinked;
  bool m_hasMatches = false;
  QPoint m_dragFrom, m_scrollFrom;
  bool m_dragging = false, m_pressed = false;
};

}  // namespace tw::widgets
