// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/graph/graph_view.h"

#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/common/format.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {
constexpr double kMinZoom = 0.02, kMaxZoom = 4, kReadableZoom = 0.6;
constexpr double kStripZoom = 0.45, kStripMargin = 12;  ///< a strip shows a kernel's whole frame where its text can still be read
}

GraphView::GraphView(QWidget* parent) : QAbstractScrollArea(parent) {
  setObjectName(QStringLiteral("view.graph.canvas"));
  setAccessibleName(tr("Model graph"));
  setFocusPolicy(Qt::StrongFocus);
  setFrameShape(QFrame::NoFrame);
  viewport()->setMouseTracking(true);
  viewport()->setBackgroundRole(QPalette::Base);
}

void GraphView::setScene(std::shared_ptr<const GraphScene> scene) {
  m_scene = std::move(scene);
  m_selected = m_hover = -1;
  m_isMatch.clear();
  m_isLinked.clear();
  m_hasMatches = false;
  m_fitPending = true;
  m_isMoved = false;
  cover();
  if (isVisible() && viewport()->width() > 50) showStart();
  setAccessibleDescription(describe());
  viewport()->update();
}

void GraphView::replaceScene(std::shared_ptr<const GraphScene> scene, const std::vector<int>& around) {
  const bool fitted = m_fitted, pending = m_fitPending || !m_scene;
  const double zoom = m_zoom;
  setScene(std::move(scene));
  if (pending || !m_scene) return;
  m_fitPending = false;
  if (fitted) return fit();
  m_isMoved = true;
  setZoom(zoom, QPointF(viewport()->rect().center()));
  QRectF middle;
  for (const int n : around) {
    if (const int s = m_scene->sceneNodeOf(n); s >= 0) middle |= m_scene->nodes[static_cast<size_t>(s)].rect;
  }
  if (!middle.isEmpty()) centreOn(middle.center());
}

void GraphView::renewScene(std::shared_ptr<const GraphScene> scene) {
  const bool fitted = m_fitted, moved = m_isMoved;
  const double zoom = m_zoom;
  const QPoint scroll(horizontalScrollBar()->value(), verticalScrollBar()->value());
  setScene(std::move(scene));
  if (!moved || !m_scene) return;
  m_fitPending = false;
  if (fitted) return fit();
  m_isMoved = true;
  setZoom(zoom, QPointF(viewport()->rect().center()));
  horizontalScrollBar()->setValue(scroll.x());
  verticalScrollBar()->setValue(scroll.y());
}

void GraphView::setOverlay(GraphOverlay overlay) {
  m_overlay = std::move(overlay);
  cover();
  setAccessibleDescription(describe());
  viewport()->update();
}

bool GraphView::isBlockFrame(int frame) const { return frame >= 0 && m_scene->frames[static_cast<size_t>(frame)].task < 0; }

void GraphView::cover() {
  m_frameCover.clear();
  m_nodeCover.clear();
  m_largest = 0;
  if (!m_scene || m_overlay.kind == GraphOverlay::Kind::none) return;
  m_frameCover.resize(m_scene->frames.size());
  m_nodeCover.resize(m_scene->nodes.size());
  std::vector<std::vector<int>> members(m_scene->frames.size());
  for (size_t i = 0; i < m_scene->nodes.size(); ++i) {
    const GraphScene::Node& n = m_scene->nodes[i];
    if (n.frame >= 0 && !isBlockFrame(n.frame) && m_overlay.kind != GraphOverlay::Kind::change) {
      auto& all = members[static_cast<size_t>(n.frame)];
      all.insert(all.end(), n.members.begin(), n.members.end());
    } else if (!n.members.empty()) {
      m_nodeCover[i] = {true, m_overlay.valueOf(n.members), {}};
    }
  }
  for (size_t f = 0; f < members.size(); ++f) {
    if (!members[f].empty()) m_frameCover[f] = {true, m_overlay.valueOf(members[f]), {}};
  }
  for (auto* covers : {&m_frameCover, &m_nodeCover}) {
    for (const Covered& c : *covers) m_largest = std::max(m_largest, c.value.value);
  }
  for (auto* covers : {&m_frameCover, &m_nodeCover}) {
    for (Covered& c : *covers) {
      c.shown = c.shown && !c.value.text.isEmpty();  // what no kernel computes shows nothing
      c.brush = overlayBrush(m_overlay.kind, c.value, m_largest, themeOf(this));
    }
  }
}

void GraphView::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) cover();
}

Table GraphView::table() const {
  Table table;
  table.columns = {tr("name"), tr("operator"), tr("output"), tr("group"), tr("attributes")};
  const bool covered = m_overlay.kind != GraphOverlay::Kind::none;
  if (covered) table.columns << tr("shown value") << tr("shown as");
  if (!m_scene) return table;
  for (size_t i = 0; i < m_scene->nodes.size(); ++i) {
    const GraphScene::Node& n = m_scene->nodes[i];
    const bool single = n.node >= 0;
    // Name, operator and types come first among what the search looks at, then the attributes.
    QStringList attributes;
    for (const QString& s : n.searchable) {
      if (single && s.contains(QLatin1Char('='))) attributes << s;
    }
    QStringList row{n.name,
                    single         ? n.title
                    : n.block >= 0 ? tr("block")
                                   : n.title.section(QLatin1Char(' '), 0, 0),
                    n.subtitle, n.frame >= 0 ? m_scene->frames[static_cast<size_t>(n.frame)].title : QString(), attributes.join(QStringLiteral("; "))};
    if (covered) {
      const bool byFrame = n.frame >= 0 && !isBlockFrame(n.frame) && m_overlay.kind != GraphOverlay::Kind::change;
      const Covered& c = byFrame ? m_frameCover[static_cast<size_t>(n.frame)] : m_nodeCover[i];
      row << (c.shown && c.value.known ? QString::number(c.value.value, 'g', 10) : QString()) << (c.shown ? c.value.text : QString());
    }
    table.rows.push_back(row);
  }
  return table;
}

QString GraphView::describe() const {
  if (!m_scene) return tr("No model is open");
  if (m_overlay.isShare() && m_largest > 0)
    return tr("The longest part takes %1 % of the time of all kernels").arg(percentText(m_largest));
  return tr("%n node(s)", nullptr, static_cast<int>(m_scene->nodes.size())) + QStringLiteral(", ") +
         tr("%n fused group(s)", nullptr, static_cast<int>(m_scene->frames.size()));
}

void GraphView::setSelectedNode(int sceneNode) {
  if (m_selected == sceneNode) return;
  m_selected = sceneNode;
  if (m_scene && sceneNode >= 0)
    setAccessibleDescription(describe() + QStringLiteral(". ") + tr("Selected: %1").arg(m_scene->nodes[static_cast<size_t>(sceneNode)].name));
  viewport()->update();
}

void GraphView::setCurrentTask(int task) {
  m_task = task;
  if (!m_isMoved && !m_fitPending && m_scene) showStart();
  viewport()->update();
}

void GraphView::setMatches(std::vector<int> sceneNodes) {
  m_isMatch.assign(m_scene ? m_scene->nodes.size() : 0, 0);
  for (const int n : sceneNodes) m_isMatch[static_cast<size_t>(n)] = 1;
  m_hasMatches = !sceneNodes.empty();
  viewport()->update();
}

void GraphView::setLinkedNodes(const std::vector<int>& sceneNodes) {
  m_isLinked.assign(m_scene && !sceneNodes.empty() ? m_scene->nodes.size() : 0, 0);
  for (const int n : sceneNodes) m_isLinked[static_cast<size_t>(n)] = 1;
  viewport()->update();
}

void GraphView::fit() {
  if (!m_scene || m_scene->bounds.isEmpty()) return;
  m_fitPending = false;
  m_fitted = true;
  const QSizeF room = viewport()->size();
  m_zoom = std::clamp(std::min(room.width() / m_scene->bounds.width(), room.height() / m_scene->bounds.height()), kMinZoom, 1.25);
  updateScrollBars();
  centreOn(m_scene->bounds.center());
  Q_EMIT zoomChanged(m_zoom);
  viewport()->update();
}

void GraphView::showStart() {
  fit();
  m_isMoved = false;
  if (!m_scene || m_zoom >= kReadableZoom || m_scene->nodes.empty()) return;
  // What is wide need not have its beginning in its middle: a strip shows the task's first kernel, or the first node.
  QRectF wanted;
  for (const auto& frame : m_scene->frames) {
    if (m_task >= 0 && frame.task == m_task && (wanted.isEmpty() || frame.rect.top() < wanted.top())) wanted = frame.rect;
  }
  if (wanted.isEmpty()) {
    const auto first = std::min_element(m_scene->nodes.begin(), m_scene->nodes.end(), [](const auto& a, const auto& b) { return a.rect.top() < b.rect.top(); });
    wanted = first->frame >= 0 ? m_scene->frames[static_cast<size_t>(first->frame)].rect : first->rect;
  }
  const double zoom = std::clamp(viewport()->width() / (wanted.width() + 2 * kStripMargin), kStripZoom, kReadableZoom);
  setZoom(zoom, QPointF(viewport()->rect().center()));
  const double half = viewport()->height() / 2.0 / m_zoom;
  centreOn(QPointF(wanted.center().x(), std::clamp(wanted.center().y(), m_scene->bounds.top() + half, std::max(m_scene->bounds.top() + half, m_scene->bounds.bottom() - half))));
}

void GraphView::zoomBy(double factor) {
  m_isMoved = true;
  setZoom(m_zoom * factor, QPointF(viewport()->rect().center()));
}

void GraphView::resetZoom() {
  m_isMoved = true;
  setZoom(1, QPointF(viewport()->rect().center()));
}

void GraphView::setZoom(double zoom, const QPointF& anchor) {
  const QPointF fixed = toScene(anchor);
  m_zoom = std::clamp(zoom, kMinZoom, kMaxZoom);
  m_fitted = false;
  updateScrollBars();
  // The scene point under the anchor stays there.
  const QPointF origin = m_scene ? m_scene->bounds.topLeft() : QPointF();
  const QPointF at = (fixed - origin) * m_zoom - anchor;
  horizontalScrollBar()->setValue(qRound(at.x()));
  verticalScrollBar()->setValue(qRound(at.y()));
  Q_EMIT zoomChanged(m_zoom);
  viewport()->update();
}

void GraphView::updateScrollBars() {
  if (!m_scene) return;
  const QSizeF content = m_scene->bounds.size() * m_zoom;
  const auto set = [](QScrollBar* bar, double length, int room) {
    // Half a page of slack on both sides lets every node be brought to the middle.
    bar->setRange(static_cast<int>(-room / 2), static_cast<int>(length - room / 2));
    bar->setPageStep(room);
    bar->setSingleStep(48);
  };
  set(horizontalScrollBar(), content.width(), viewport()->width());
  set(verticalScrollBar(), content.height(), viewport()->height());
}

void GraphView::centreOn(const QPointF& point) {
  if (!m_scene) return;
  const QPointF at = (point - m_scene->bounds.topLeft()) * m_zoom;
  horizontalScrollBar()->setValue(qRound(at.x() - viewport()->width() / 2.0));
  verticalScrollBar()->setValue(qRound(at.y() - viewport()->height() / 2.0));
}

void GraphView::revealNode(int sceneNode) {
  if (!m_scene || sceneNode < 0) return;
  if (m_zoom < 0.5) setZoom(0.9, QPointF(viewport()->rect().center()));
  m_fitted = false;
  m_isMoved = true;
  centreOn(m_scene->nodes[static_cast<size_t>(sceneNode)].rect.center());
}

void GraphView::revealTask(int task) {
  if (!m_scene) return;
  const QRectF visible = visibleScene();
  const GraphScene::Frame* first = nullptr;
  for (const auto& frame : m_scene->frames) {
    if (frame.task != task) continue;
    if (visible.contains(frame.rect.center())) return;
    if (!first) first = &frame;
  }
  if (first && !m_fitted) centreOn(first->rect.center());
}

QPointF GraphView::toScene(const QPointF& p) const {
  const QPointF origin = m_scene ? m_scene->bounds.topLeft() : QPointF();
  return (p + QPointF(horizontalScrollBar()->value(), verticalScrollBar()->value())) / m_zoom + origin;
}

QRectF GraphView::visibleScene() const { return {toScene({0, 0}), toScene(QPointF(viewport()->width(), viewport()->height()))}; }

void GraphView::resizeEvent(QResizeEvent* event) {
  if (m_fitPending || (!m_isMoved && m_scene && !m_fitted))
    showStart();
  else if (m_fitted)
    fit();
  else if (event->oldSize().isValid()) {
    // What was in the middle stays there, under the same upper edge: a strip shows the chain that a wide view showed.
    const QPointF middle = toScene(QPointF(event->oldSize().width() / 2.0, 0));
    updateScrollBars();
    centreOn(QPointF(middle.x(), middle.y() + viewport()->height() / 2.0 / m_zoom));
  } else {
    updateScrollBars();
  }
}

void GraphView::scrollContentsBy(int, int) { viewport()->update(); }

void GraphView::wheelEvent(QWheelEvent* event) {
  m_isMoved = true;
  if (event->modifiers() & Qt::ControlModifier) {
    setZoom(m_zoom * std::pow(1.0015, event->angleDelta().y()), event->position());
    event->accept();
    return;
  }
  m_fitted = false;
  QAbstractScrollArea::wheelEvent(event);
}

void GraphView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton) return;
  m_pressed = true;
  m_dragging = false;
  m_dragFrom = event->pos();
  m_scrollFrom = QPoint(horizontalScrollBar()->value(), verticalScrollBar()->value());
}

void GraphView::mouseMoveEvent(QMouseEvent* event) {
  if (m_pressed) {
    const QPoint moved = event->pos() - m_dragFrom;
    if (!m_dragging && moved.manhattanLength() < 5) return;
    m_dragging = true;
    m_fitted = false;
    m_isMoved = true;
    viewport()->setCursor(Qt::ClosedHandCursor);
    horizontalScrollBar()->setValue(m_scrollFrom.x() - moved.x());
    verticalScrollBar()->setValue(m_scrollFrom.y() - moved.y());
    return;
  }
  const int hover = m_scene ? m_scene->nodeAt(toScene(event->position())) : -1;
  if (hover != m_hover) {
    m_hover = hover;
    viewport()->update();
  }
}

void GraphView::mouseReleaseEvent(QMouseEvent* event) {
  if (!m_pressed) return;
  m_pressed = false;
  viewport()->unsetCursor();
  if (m_dragging || !m_scene || event->button() != Qt::LeftButton) return;
  activate(toScene(event->position()));
}

void GraphView::activate(const QPointF& point) {
  const int node = m_scene->nodeAt(point), frame = m_scene->frameAt(point);
  setSelectedNode(node);
  Q_EMIT nodeActivated(node);
  if (frame >= 0 && m_scene->frames[static_cast<size_t>(frame)].task >= 0) Q_EMIT taskActivated(m_scene->frames[static_cast<size_t>(frame)].task);
}

void GraphView::contextMenuEvent(QContextMenuEvent* event) {
  if (!m_scene) return;
  if (event->reason() == QContextMenuEvent::Mouse) activate(toScene(event->pos()));
  Q_EMIT menuAsked(event->globalPos());
}

void GraphView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (!m_scene) return;
  const int node = m_scene->nodeAt(toScene(event->position())), frame = m_scene->frameAt(toScene(event->position()));
  if (node >= 0 && m_scene->nodes[static_cast<size_t>(node)].block >= 0) return Q_EMIT boxActivated(node);
  if (node < 0 && isBlockFrame(frame)) return Q_EMIT frameActivated(frame);
  m_isMoved = node >= 0;
  if (node >= 0)
    setZoom(std::max(1.0, m_zoom), event->position());
  else
    fit();
}

void GraphView::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_F:
      return fit();
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (m_selected >= 0 && m_scene->nodes[static_cast<size_t>(m_selected)].block >= 0) Q_EMIT boxActivated(m_selected);
      return;
    case Qt::Key_Backspace:
      if (m_selected >= 0) Q_EMIT closeAsked(m_selected);
      return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return zoomBy(1.25);
    case Qt::Key_Minus:
      return zoomBy(0.8);
    case Qt::Key_0:
      return resetZoom();
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Left:
    case Qt::Key_Right:
      return walk(event->key());
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

void GraphView::walk(int key) {
  if (!m_scene || m_scene->nodes.empty()) return;
  int best = -1;
  if (m_selected < 0) {
    best = 0;
  } else {
    const QPointF here = m_scene->nodes[static_cast<size_t>(m_selected)].rect.center();
    double nearest = 1e18;
    const auto consider = [&](int n) {
      const double d = std::abs(m_scene->nodes[static_cast<size_t>(n)].rect.center().x() - here.x()) +
                       std::abs(m_scene->nodes[static_cast<size_t>(n)].rect.center().y() - here.y());
      if (d < nearest) nearest = d, best = n;
    };
    if (key == Qt::Key_Down || key == Qt::Key_Up) {
      for (const auto& e : m_scene->edges) {
        if (key == Qt::Key_Down && e.from == m_selected) consider(e.to);
        if (key == Qt::Key_Up && e.to == m_selected) consider(e.from);
      }
    } else {
      for (size_t i = 0; i < m_scene->nodes.size(); ++i) {
        const QPointF there = m_scene->nodes[i].rect.center();
        if (std::abs(there.y() - here.y()) < 40 && (key == Qt::Key_Right ? there.x() > here.x() : there.x() < here.x())) consider(static_cast<int>(i));
      }
    }
  }
  if (best < 0) return;
  setSelectedNode(best);
  m_isMoved = true;
  if (!visibleScene().contains(m_scene->nodes[static_cast<size_t>(best)].rect)) centreOn(m_scene->nodes[static_cast<size_t>(best)].rect.center());
  Q_EMIT nodeActivated(best);
}

bool GraphView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave && m_hover >= 0) {
    m_hover = -1;
    viewport()->update();
  }
  if (event->type() == QEvent::ToolTip && m_scene) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const int n = m_scene->nodeAt(toScene(help->pos()));
    if (n < 0) {
      QToolTip::hideText();
    } else {
      const auto& node = m_scene->nodes[static_cast<size_t>(n)];
      QString text = node.name + QLatin1Char('\n') + node.title + QStringLiteral("  ") + node.subtitle;
      if (static_cast<size_t>(n) < m_nodeCover.size() && m_nodeCover[static_cast<size_t>(n)].shown)
        text += QLatin1Char('\n') + m_nodeCover[static_cast<size_t>(n)].value.text;
      if (node.frame >= 0) text += QLatin1Char('\n') + m_scene->frames[static_cast<size_t>(node.frame)].title;
      QToolTip::showText(help->globalPos(), text, viewport());
    }
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace tw::widgets
