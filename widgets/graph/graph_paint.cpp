// SPDX-License-Identifier: GPL-3.0-or-later
// The painting half of GraphView.
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <cmath>

#include "widgets/graph/graph_view.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {

constexpr double kTextZoom = 0.38, kShapeZoom = 0.55, kRoundZoom = 0.2;

QColor fillOf(GraphScene::Look look, const Theme& theme) {
  switch (look) {
    case GraphScene::Look::heavy:
      return theme.nodeHeavy;
    case GraphScene::Look::light:
      return theme.nodeLight;
    case GraphScene::Look::data:
      return theme.nodeData;
    case GraphScene::Look::plain:
      break;
  }
  return theme.node;
}

QPen cosmetic(const QColor& color, double width, Qt::PenStyle style = Qt::SolidLine) {
  QPen pen(color, width, style);
  pen.setCosmetic(true);
  return pen;
}

/// A line through the points, its corners rounded.
QPainterPath smoothPath(const std::vector<QPointF>& points) {
  QPainterPath path(points.front());
  for (size_t i = 1; i < points.size(); ++i) {
    const QPointF a = points[i - 1], b = points[i];
    if (std::abs(a.x() - b.x()) < 0.5 || std::abs(a.y() - b.y()) < 0.5) {
      path.lineTo(b);
      continue;
    }
    const double half = (b.y() - a.y()) / 2;
    path.cubicTo(QPointF(a.x(), a.y() + half), QPointF(b.x(), b.y() - half), b);
  }
  return path;
}

}  // namespace

void GraphView::paintEvent(QPaintEvent*) {
  QPainter p(viewport());
  const Theme& theme = themeOf(this);
  p.fillRect(viewport()->rect(), theme.base);
  if (!m_scene) return;
  if (m_fitPending) showStart();
  p.setRenderHint(QPainter::Antialiasing, m_zoom > kRoundZoom);
  p.save();
  p.translate(-horizontalScrollBar()->value(), -verticalScrollBar()->value());
  p.scale(m_zoom, m_zoom);
  p.translate(-m_scene->bounds.topLeft());
  const QRectF visible = visibleScene();
  paintFrames(p, theme, visible);
  paintEdges(p, theme, visible);
  paintTitles(p, theme, visible);
  paintNodes(p, theme, visible);
  p.restore();
  paintOverview(p, theme);
}

void GraphView::paintFrames(QPainter& p, const Theme& theme, const QRectF& visible) {
  for (const auto& frame : m_scene->frames) {
    if (!frame.rect.intersects(visible)) continue;
    const bool current = frame.task >= 0 && frame.task == m_task;
    const QColor color = frame.task >= 0 ? theme.categorical(frame.task) : theme.border;
    QColor fill = color;
    fill.setAlphaF(current ? 0.24f : 0.09f);
    p.setPen(cosmetic(color, current ? 3 : 1.5));
    p.setBrush(fill);
    p.drawRoundedRect(frame.rect, 8, 8);
  }
}

void GraphView::paintTitles(QPainter& p, const Theme& theme, const QRectF& visible) {
  if (m_zoom < kTextZoom) return;
  for (const auto& frame : m_scene->frames) {
    if (!frame.rect.intersects(visible)) continue;
    QFont font = this->font();
    font.setBold(frame.task >= 0 && frame.task == m_task);
    p.setFont(font);
    const QRectF line(frame.rect.left() + 8, frame.rect.top() + 3, frame.rect.width() - 16, 18);
    const QString text = p.fontMetrics().elidedText(frame.title, Qt::ElideRight, static_cast<int>(line.width()));
    // The text keeps an edge that comes in from above from crossing it out.
    p.fillRect(QRectF(line.left() - 2, line.top() + 1, p.fontMetrics().horizontalAdvance(text) + 4, line.height() - 2), theme.base);
    p.setPen(theme.text);
    p.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, text);
  }
  p.setFont(font());
}

void GraphView::paintEdges(QPainter& p, const Theme& theme, const QRectF& visible) {
  p.setBrush(Qt::NoBrush);
  const bool heads = m_zoom > kRoundZoom;
  for (int pass = 0; pass < 2; ++pass) {  // edges of the selected node come last, on top
    for (const auto& edge : m_scene->edges) {
      const bool near = m_selected >= 0 && (edge.from == m_selected || edge.to == m_selected);
      if (near != (pass == 1) || edge.points.size() < 2 || !edge.bounds.intersects(visible)) continue;
      const QColor color = near ? theme.accent : theme.edge;
      p.setPen(cosmetic(color, near ? 2.2 : 1.2));
      if (m_zoom > kTextZoom)
        p.drawPath(smoothPath(edge.points));
      else
        p.drawPolyline(edge.points.data(), static_cast<int>(edge.points.size()));
      if (!heads) continue;
      const QPointF tip = edge.points.back(), before = edge.points[edge.points.size() - 2];
      const QPointF direction = std::abs(tip.y() - before.y()) < 0.5 ? QPointF(tip.x() > before.x() ? 1 : -1, 0) : QPointF(0, 1);
      const QPointF side(direction.y(), direction.x());
      p.setPen(Qt::NoPen);
      p.setBrush(color);
      const QPointF head[3] = {tip, tip - direction * 7 + side * 3.5, tip - direction * 7 - side * 3.5};
      p.drawConvexPolygon(head, 3);
      p.setBrush(Qt::NoBrush);
      if (near && m_edgeLabels && m_zoom > kShapeZoom) {
        p.setPen(theme.accent);
        p.drawText(edge.points.front() + QPointF(6, 14), edge.label);
      }
    }
  }
}

void GraphView::paintNodes(QPainter& p, const Theme& theme, const QRectF& visible) {
  for (size_t i = 0; i < m_scene->nodes.size(); ++i) {
    const auto& node = m_scene->nodes[i];
    if (!node.rect.intersects(visible)) continue;
    const bool selected = static_cast<int>(i) == m_selected, match = i < m_isMatch.size() && m_isMatch[i] != 0,
               linked = i < m_isLinked.size() && m_isLinked[i] != 0;
    p.setBrush(match || linked ? theme.linkBand : fillOf(node.look, theme));
    p.setPen(selected ? cosmetic(theme.accent, 3)
             : match  ? cosmetic(theme.warning, 2.5)
             : linked ? cosmetic(theme.accent, 2, Qt::DashLine)
                      : cosmetic(static_cast<int>(i) == m_hover ? theme.accent : theme.edge, 1.2));
    if (m_hasMatches && !match && !selected) p.setOpacity(0.45);
    const double radius = node.node < 0 ? node.rect.height() / 2 : 5;
    if (m_zoom > kRoundZoom)
      p.drawRoundedRect(node.rect, radius, radius);
    else
      p.drawRect(node.rect);
    if (m_zoom > kTextZoom) {
      const QRectF inner = node.rect.adjusted(6, 4, -6, -4);
      const int width = static_cast<int>(inner.width());
      p.setPen(theme.text);
      if (m_zoom > kShapeZoom && !node.subtitle.isEmpty()) {
        const QRectF upper(inner.left(), inner.top(), inner.width(), inner.height() / 2),
            lower(inner.left(), inner.center().y(), inner.width(), inner.height() / 2);
        QFont bold = font();
        bold.setBold(true);
        p.setFont(bold);
        p.drawText(upper, Qt::AlignCenter, p.fontMetrics().elidedText(node.title, Qt::ElideMiddle, width));
        p.setFont(font());
        p.drawText(lower, Qt::AlignCenter, p.fontMetrics().elidedText(node.subtitle, Qt::ElideRight, width));
      } else {
        p.drawText(inner, Qt::AlignCenter, p.fontMetrics().elidedText(node.title, Qt::ElideMiddle, width));
      }
    }
    p.setOpacity(1);
  }
}

void GraphView::paintOverview(QPainter& p, const Theme& theme) {
  const QRectF visible = visibleScene();
  if (visible.contains(m_scene->bounds.adjusted(20, 20, -20, -20)) || viewport()->width() < 300) return;
  const QSizeF size = m_scene->bounds.size().scaled(120, 160, Qt::KeepAspectRatio);
  const double scale = size.width() / m_scene->bounds.width();
  const QRectF box(viewport()->width() - size.width() - 12, viewport()->height() - size.height() - 12, size.width(), size.height());
  p.setPen(cosmetic(theme.border, 1));
  p.setBrush(theme.alternateBase);
  p.drawRect(box.adjusted(-3, -3, 3, 3));
  p.setRenderHint(QPainter::Antialiasing, false);
  p.setPen(Qt::NoPen);
  const auto map = [&](const QRectF& r) {
    return QRectF(box.topLeft() + (r.topLeft() - m_scene->bounds.topLeft()) * scale,
                  QSizeF(std::max(1.5, r.width() * scale), std::max(1.5, r.height() * scale)));
  };
  for (const auto& frame : m_scene->frames) p.fillRect(map(frame.rect), frame.task >= 0 ? theme.categorical(frame.task) : theme.edge);
  for (const auto& node : m_scene->nodes) {
    if (node.frame < 0) p.fillRect(map(node.rect), theme.edge);
  }
  p.setBrush(Qt::NoBrush);
  p.setPen(cosmetic(theme.accent, 2));
  p.drawRect(map(visible).intersected(box));
}

}  // namespace tw::widgets
