// SPDX-License-Identifier: GPL-3.0-or-later
// The painting half of GraphView.
#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "widgets/common/format.h"
#include "widgets/graph/graph_view.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {

constexpr double kScaleLength = 120, kSwatch = 16;  ///< of the overlay's legend
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
  p.save();
  p.translate(-horizontalScrollBar()->value(), -verticalScrollBar()->value());
  p.scale(m_zoom, m_zoom);
  p.translate(-m_scene->bounds.topLeft());
  paintScene(p, theme, visibleScene(), m_zoom);
  p.restore();
  paintOverview(p, theme);
  paintLegend(p, theme, QPointF(10, viewport()->height() - 10));
}

void GraphView::paintScene(QPainter& p, const Theme& theme, const QRectF& visible, double zoom) const {
  p.setRenderHint(QPainter::Antialiasing, zoom > kRoundZoom);
  paintFrames(p, theme, visible);
  paintEdges(p, theme, visible, zoom);
  if (zoom >= kTextZoom) paintTitles(p, theme, visible);
  paintNodes(p, theme, visible, zoom);
}

QSizeF GraphView::pictureSize() const {
  if (!m_scene || m_scene->nodes.empty()) return {};
  const QSizeF legend = legendSize();
  return {std::max(m_scene->bounds.width(), legend.width() + (legend.isEmpty() ? 0 : 20)),
          m_scene->bounds.height() + (legend.isEmpty() ? 0 : legend.height() + 20)};
}

void GraphView::paintPicture(QPainter& p, double scale) const {
  const Theme& theme = themeOf(this);
  const QSizeF size = pictureSize();
  p.fillRect(QRectF(QPointF(), size), theme.base);
  p.setFont(font());
  p.save();
  p.translate(-m_scene->bounds.topLeft());
  paintScene(p, theme, m_scene->bounds, scale);
  p.restore();
  paintLegend(p, theme, QPointF(10, size.height() - 10));
}

void GraphView::paintFrames(QPainter& p, const Theme& theme, const QRectF& visible) const {
  for (size_t f = 0; f < m_scene->frames.size(); ++f) {
    const auto& frame = m_scene->frames[f];
    if (!frame.rect.intersects(visible)) continue;
    const bool current = frame.task >= 0 && frame.task == m_task;
    const QColor color = frame.task >= 0 ? theme.categorical(frame.task) : theme.border;
    QColor fill = color;
    fill.setAlphaF(current ? 0.24f : 0.09f);
    const bool covered = f < m_frameCover.size() && m_frameCover[f].shown;
    p.setPen(covered ? cosmetic(current ? theme.accent : theme.edge, current ? 3 : 1.5) : cosmetic(color, current ? 3 : 1.5));
    p.setBrush(covered ? m_frameCover[f].brush : QBrush(fill));
    p.drawRoundedRect(frame.rect, 8, 8);
  }
}

void GraphView::paintTitles(QPainter& p, const Theme& theme, const QRectF& visible) const {
  for (size_t f = 0; f < m_scene->frames.size(); ++f) {
    const auto& frame = m_scene->frames[f];
    if (!frame.rect.intersects(visible)) continue;
    QFont font = this->font();
    font.setBold(frame.task >= 0 && frame.task == m_task);
    p.setFont(font);
    const QRectF line(frame.rect.left() + 8, frame.rect.top() + 3, frame.rect.width() - 16, 18);
    // What the overlay says comes first: names may be cut.
    const QString title = f < m_frameCover.size() && m_frameCover[f].shown ? m_frameCover[f].value.text + QStringLiteral(" · ") + frame.title : frame.title;
    const QString text = p.fontMetrics().elidedText(title, Qt::ElideRight, static_cast<int>(line.width()));
    // The text keeps an edge that comes in from above from crossing it out.
    p.fillRect(QRectF(line.left() - 2, line.top() + 1, p.fontMetrics().horizontalAdvance(text) + 4, line.height() - 2), theme.base);
    p.setPen(theme.text);
    p.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, text);
  }
  p.setFont(font());
}

void GraphView::paintEdges(QPainter& p, const Theme& theme, const QRectF& visible, double zoom) const {
  p.setBrush(Qt::NoBrush);
  const bool heads = zoom > kRoundZoom;
  for (int pass = 0; pass < 2; ++pass) {  // edges of the selected node come last, on top
    for (const auto& edge : m_scene->edges) {
      const bool near = m_selected >= 0 && (edge.from == m_selected || edge.to == m_selected);
      if (near != (pass == 1) || edge.points.size() < 2 || !edge.bounds.intersects(visible)) continue;
      const QColor color = near ? theme.accent : theme.edge;
      p.setPen(cosmetic(color, near ? 2.2 : 1.2));
      if (zoom > kTextZoom)
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
      if (near && zoom > kShapeZoom) {
        p.setPen(theme.accent);
        p.drawText(edge.points.front() + QPointF(6, 14), edge.label);
      }
    }
  }
}

void GraphView::paintNodes(QPainter& p, const Theme& theme, const QRectF& visible, double zoom) const {
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
    const double radius = node.value >= 0 ? node.rect.height() / 2 : 5;
    if (node.block >= 0 && zoom > kTextZoom) p.drawRoundedRect(node.rect.translated(4, 4), radius, radius);  // there is more behind it
    if (zoom > kRoundZoom)
      p.drawRoundedRect(node.rect, radius, radius);
    else
      p.drawRect(node.rect);
    const bool covered = i < m_nodeCover.size() && m_nodeCover[i].shown;
    if (covered) {
      // A strip beside the text, which stays on the ground that it can be read on.
      p.setPen(cosmetic(theme.edge, 1));
      p.setBrush(m_nodeCover[i].brush);
      p.drawRect(QRectF(node.rect.left(), node.rect.top(), 9, node.rect.height()));
    }
    if (zoom > kTextZoom) {
      const QRectF inner = node.rect.adjusted(covered ? 11 : 6, 4, -6, -4);
      const QString subtitle = covered ? m_nodeCover[i].value.text + (node.block >= 0 ? QStringLiteral(" · ") + node.subtitle : QString()) : node.subtitle;
      const int width = static_cast<int>(inner.width());
      p.setPen(theme.text);
      if (zoom > kShapeZoom && !subtitle.isEmpty()) {
        const QRectF upper(inner.left(), inner.top(), inner.width(), inner.height() / 2),
            lower(inner.left(), inner.center().y(), inner.width(), inner.height() / 2);
        QFont bold = font();
        bold.setBold(true);
        p.setFont(bold);
        p.drawText(upper, Qt::AlignCenter, p.fontMetrics().elidedText(node.title, Qt::ElideMiddle, width));
        p.setFont(font());
        p.drawText(lower, Qt::AlignCenter, p.fontMetrics().elidedText(subtitle, Qt::ElideRight, width));
      } else {
        p.drawText(inner, Qt::AlignCenter, p.fontMetrics().elidedText(node.title, Qt::ElideMiddle, width));
      }
    }
    p.setOpacity(1);
  }
}

std::pair<QString, QString> GraphView::legendTexts() const {
  switch (m_overlay.kind) {
    case GraphOverlay::Kind::share:
      return {tr("share of the time of all kernels"), tr("not measured")};
    case GraphOverlay::Kind::ran:
      return {tr("share of the time of all kernels as they ran"), tr("did not run")};
    case GraphOverlay::Kind::tuned:
      return {QString(QChar(0x2713)) + QLatin1Char(' ') + tr("tuned"), tr("not tuned")};
    case GraphOverlay::Kind::difference:
      return {
          m_overlay.firstName.isEmpty() ? tr("tick two sessions in Sessions") : tr("time of %1 ÷ time of %2").arg(m_overlay.secondName, m_overlay.firstName),
          tr("not in both")};
    case GraphOverlay::Kind::none:
    case GraphOverlay::Kind::change:  // nodes say it themselves
      break;
  }
  return {};
}

QSizeF GraphView::legendSize() const {
  if (m_overlay.kind == GraphOverlay::Kind::none || m_overlay.kind == GraphOverlay::Kind::change || m_frameCover.size() + m_nodeCover.size() == 0) return {};
  const QFontMetricsF metrics(font());
  const auto [what, missing] = legendTexts();
  const double line = metrics.height() + 2, other = kSwatch + 6 + metrics.horizontalAdvance(missing);
  if (m_overlay.kind == GraphOverlay::Kind::tuned) return {kSwatch + 8 + metrics.horizontalAdvance(what) + 20 + other + 16, line + 8};
  // Beside the scale what it is, and below that what the hatching is.
  return {kScaleLength + 8 + std::max(metrics.horizontalAdvance(what), other) + 16, 2 * line + 8};
}

void GraphView::paintLegend(QPainter& p, const Theme& theme, const QPointF& at) const {
  using Kind = GraphOverlay::Kind;
  const QSizeF size = legendSize();
  if (size.isEmpty()) return;
  p.save();
  p.setFont(font());
  const QFontMetricsF metrics(font());
  const double line = metrics.height() + 2, bar = kScaleLength;
  const bool scale = m_overlay.kind != Kind::tuned;
  const auto [what, missing] = legendTexts();
  const double first = scale ? bar : kSwatch;
  const QRectF box(QPointF(at.x(), at.y() - size.height()), size);
  p.setPen(cosmetic(theme.border, 1));
  p.setBrush(theme.base);
  p.drawRoundedRect(box, 4, 4);
  const double x = box.left() + 8, y = box.top() + 4;
  const auto value = [&](double v) {
    GraphOverlay::Value out;
    out.known = true, out.value = v;
    return out;
  };
  const auto swatch = [&](const QRectF& r, const QBrush& brush) {
    p.setPen(cosmetic(theme.edge, 1));
    p.setBrush(brush);
    p.drawRect(r);
  };
  if (scale) {
    const bool ratio = m_overlay.kind == Kind::difference;
    p.setPen(Qt::NoPen);
    for (int i = 0; i < static_cast<int>(bar); ++i) {
      const double t = i / (bar - 1);
      p.fillRect(QRectF(x + i, y + 3, 1.5, line - 7), overlayBrush(m_overlay.kind, value(ratio ? std::exp2(2 * t - 1) : t * m_largest), m_largest, theme));
    }
    p.setPen(theme.text);
    const QRectF below(x, y + line - 2, bar, line);
    p.drawText(below, Qt::AlignLeft | Qt::AlignVCenter, ratio ? QString(QChar(0x00BD)) + QChar(0x00D7) : QStringLiteral("0 %"));
    if (ratio) p.drawText(below, Qt::AlignCenter, QStringLiteral("1") + QChar(0x00D7));
    p.drawText(below, Qt::AlignRight | Qt::AlignVCenter, ratio ? QStringLiteral("2") + QChar(0x00D7) : percentText(m_largest) + QStringLiteral(" %"));
  } else {
    swatch(QRectF(x, y + 3, kSwatch, line - 6), overlayBrush(m_overlay.kind, value(1), 1, theme));
  }
  p.setPen(theme.text);
  p.drawText(QPointF(x + first + 8, y + metrics.ascent() + 1), what);
  const QPointF other = scale ? QPointF(x + first + 8, y + line) : QPointF(x + first + 8 + metrics.horizontalAdvance(what) + 20, y);
  swatch(QRectF(other.x(), other.y() + 3, kSwatch, line - 6), overlayBrush(m_overlay.kind, {}, 1, theme));
  p.setPen(theme.text);
  p.drawText(QPointF(other.x() + kSwatch + 6, other.y() + metrics.ascent() + 1), missing);
  p.restore();
}

void GraphView::paintOverview(QPainter& p, const Theme& theme) {
  const QRectF visible = visibleScene();
  if (visible.contains(m_scene->bounds.adjusted(20, 20, -20, -20)) || viewport()->width() < 300 || viewport()->height() < 200) return;
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
  for (size_t f = 0; f < m_scene->frames.size(); ++f) {
    const auto& frame = m_scene->frames[f];
    const bool covered = f < m_frameCover.size() && m_frameCover[f].shown;
    p.fillRect(map(frame.rect), covered ? m_frameCover[f].brush : QBrush(frame.task >= 0 ? theme.categorical(frame.task) : theme.edge));
  }
  for (const auto& node : m_scene->nodes) {
    if (node.frame < 0) p.fillRect(map(node.rect), theme.edge);
  }
  p.setBrush(Qt::NoBrush);
  p.setPen(cosmetic(theme.accent, 2));
  p.drawRect(map(visible).intersected(box));
}

}  // namespace tw::widgets
