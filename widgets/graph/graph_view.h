// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>
#include <QBrush>
#include <memory>
#include <vector>

#include "widgets/common/tabular.h"
#include "widgets/common/whole_picture.h"
#include "widgets/graph/graph_overlay.h"
#include "widgets/graph/graph_scene.h"

namespace tw::widgets {

struct Theme;

/// Draws a graph scene: wheel scrolls, Ctrl+wheel zooms at the pointer, dragging pans, F fits, arrow keys walk along edges, Enter opens a box and Backspace
/// closes the block around a node. Detail follows the zoom. An overlay colours frames of kernels, and boxes and nodes outside of them.
class GraphView : public QAbstractScrollArea, public Tabular, public WholePicture {
  Q_OBJECT
 public:
  explicit GraphView(QWidget* parent = nullptr);

  void setScene(std::shared_ptr<const GraphScene> scene);
  /// Another drawing of the same graph: the zoom stays, and these nodes of the graph are in the middle.
  void replaceScene(std::shared_ptr<const GraphScene> scene, const std::vector<int>& around);
  /// The same drawing with other words: what a person moved or zoomed stays.
  void renewScene(std::shared_ptr<const GraphScene> scene);
  const GraphScene* scene() const { return m_scene.get(); }
  void setOverlay(GraphOverlay overlay);
  const GraphOverlay& overlay() const { return m_overlay; }
  Table table() const override;
  QSizeF pictureSize() const override;
  void paintPicture(QPainter& painter, double scale) const override;
  void setSelectedNode(int sceneNode);
  int selectedNode() const { return m_selected; }
  /// The task whose frames stand out; -1 for none.
  void setCurrentTask(int task);
  void setMatches(std::vector<int> sceneNodes);
  /// Nodes that belong to what is selected elsewhere, such as a line of code.
  void setLinkedNodes(const std::vector<int>& sceneNodes);
  void fit();
  /// The whole graph if it can be read so, else the current task's first kernel, or the beginning, at a readable size.
  void showStart();
  void zoomBy(double factor);
  void resetZoom();
  void revealNode(int sceneNode);
  void revealTask(int task);
  double zoom() const { return m_zoom; }

 Q_SIGNALS:
  void nodeActivated(int sceneNode);  ///< -1: nothing selected
  void taskActivated(int task);
  void boxActivated(int sceneNode);  ///< to be opened
  void frameActivated(int frame);    ///< of a block, to be closed
  void closeAsked(int sceneNode);    ///< the block around it is to be closed
  void zoomChanged(double zoom);
  /// After what is under the pointer was selected.
  void menuAsked(const QPoint& globalPos);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  QPointF toScene(const QPointF& viewportPoint) const;
  QRectF visibleScene() const;
  void setZoom(double zoom, const QPointF& anchor);
  void updateScrollBars();
  void centreOn(const QPointF& scenePoint);
  void activate(const QPointF& scenePoint);
  void walk(int key);
  void paintScene(QPainter& p, const Theme& theme, const QRectF& visible, double zoom) const;
  void paintFrames(QPainter& p, const Theme& theme, const QRectF& visible) const;
  void paintTitles(QPainter& p, const Theme& theme, const QRectF& visible) const;
  void paintEdges(QPainter& p, const Theme& theme, const QRectF& visible, double zoom) const;
  void paintNodes(QPainter& p, const Theme& theme, const QRectF& visible, double zoom) const;
  /// The scale of the overlay: its size, 0 without one, and painted with its lower left corner at `at`.
  QSizeF legendSize() const;
  void paintLegend(QPainter& p, const Theme& theme, const QPointF& at) const;
  void paintOverview(QPainter& p, const Theme& theme);
  QString describe() const;
  /// What the overlay shows of one frame or node.
  struct Covered {
    bool shown = false;
    GraphOverlay::Value value;
    QBrush brush;
  };
  void cover();
  bool isBlockFrame(int frame) const;
  /// What the overlay's scale is called, and what the hatching means.
  std::pair<QString, QString> legendTexts() const;

  std::shared_ptr<const GraphScene> m_scene;
  double m_zoom = 1;
  bool m_fitPending = false, m_fitted = false;
  bool m_isMoved = false;  ///< a person, or what was found, chose what is seen: another size keeps it
  int m_selected = -1, m_task = -1, m_hover = -1;
  std::vector<char> m_isMatch, m_isLinked;
  GraphOverlay m_overlay;
  std::vector<Covered> m_frameCover, m_nodeCover;
  double m_largest = 0;  ///< value of a frame or node
  bool m_hasMatches = false;
  QPoint m_dragFrom, m_scrollFrom;
  bool m_dragging = false, m_pressed = false;
};

}  // namespace tw::widgets
