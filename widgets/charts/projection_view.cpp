// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/projection_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "widgets/charts/color_scale.h"
#include "widgets/common/format.h"
#include "widgets/theme/theme.h"
#include "widgets/tuning/status_text.h"

namespace tw::widgets {
namespace {
constexpr size_t kTrail = 200;
}

ProjectionView::ProjectionView(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("view.space.projection"));
  setAccessibleName(tr("Projection of the trials"));
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(160, 120);
}

void ProjectionView::setData(std::shared_ptr<const PointSet> points, std::shared_ptr<const Projection> projection) {
  m_points = std::move(points);
  m_projection = std::move(projection);
  m_image = {};
  if (m_projection && !m_projection->x.empty()) {
    const auto [x0, x1] = std::minmax_element(m_projection->x.begin(), m_projection->x.end());
    const auto [y0, y1] = std::minmax_element(m_projection->y.begin(), m_projection->y.end());
    m_left = *x0, m_right = std::max(*x1, *x0 + 1e-3f), m_low = *y0, m_high = std::max(*y1, *y0 + 1e-3f);
    m_best = HUGE_VALF, m_worst = 0;
    for (size_t p = 0; p < m_points->size(); ++p) {
      if (m_points->ok(p)) m_best = std::min(m_best, m_points->seconds[p]), m_worst = std::max(m_worst, m_points->seconds[p]);
    }
  }
  setAccessibleDescription(summary());
  update();
}

void ProjectionView::setSelectedTrial(qint64 number) {
  m_selected = number;
  update();
}

QRectF ProjectionView::area() const {
  const int line = fontMetrics().height();
  return QRectF(line + 12, 10, std::max(10, width() - line - 26), std::max(10, height() - line - 26));
}

QPointF ProjectionView::pixelOf(size_t point) const {
  const QRectF a = area().adjusted(6, 6, -6, -6);
  return {a.left() + static_cast<double>((m_projection->x[point] - m_left) / (m_right - m_left)) * a.width(),
          a.bottom() - static_cast<double>((m_projection->y[point] - m_low) / (m_high - m_low)) * a.height()};
}

void ProjectionView::rasterize() {
  const double ratio = devicePixelRatioF();
  m_image = QImage(size() * ratio, QImage::Format_RGB32);
  m_image.setDevicePixelRatio(ratio);
  const Theme& theme = themeOf(this);
  m_image.fill(theme.base);
  if (!m_projection || m_projection->x.size() != m_points->size()) return;
  // Slow ones first, so that the fastest lie on top; failures below all.
  std::vector<uint32_t> order(m_points->size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return m_points->seconds[a] > m_points->seconds[b]; });
  const int reach = std::max(1, static_cast<int>(std::lround((m_points->size() > 20'000 ? 1 : 2) * ratio)));
  const auto span = std::log(m_worst / m_best);
  std::array<QRgb, 64> colours;
  for (int i = 0; i < 64; ++i) colours[static_cast<size_t>(i)] = viridis(i / 63.0).rgb();
  const QRgb failed = theme.error.rgb();
  for (const uint32_t p : order) {
    const QPointF at = pixelOf(p) * ratio;
    const int x = static_cast<int>(at.x()), y = static_cast<int>(at.y());
    const bool ok = m_points->ok(p);
    const float t = ok && span > 0 ? 1 - std::log(m_points->seconds[p] / m_best) / span : 1;
    const QRgb colour = ok ? colours[static_cast<size_t>(std::clamp(t, 0.f, 1.f) * 63)] : failed;
    for (int dy = -reach; dy <= reach; ++dy) {
      if (y + dy < 0 || y + dy >= m_image.height()) continue;
      auto* line = reinterpret_cast<QRgb*>(m_image.scanLine(y + dy));
      for (int dx = -reach; dx <= reach; ++dx) {
        if (x + dx >= 0 && x + dx < m_image.width() && (ok || std::abs(dx) == std::abs(dy))) line[x + dx] = colour;
      }
    }
  }
}

QString ProjectionView::axisText(int axis) const {
  const auto& weights = m_projection->weights[static_cast<size_t>(axis)];
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return std::abs(weights[a]) > std::abs(weights[b]); });
  QStringList parts;
  for (size_t i = 0; i < std::min<size_t>(3, order.size()); ++i) {
    const double w = weights[order[i]];
    if (std::abs(w) < 0.05) break;
    parts << QStringLiteral("%1%2 %3").arg(w < 0   ? QString(QChar(0x2212))
                                           : i > 0 ? QStringLiteral("+")
                                                   : QString(),
                                           QString::number(std::abs(w), 'f', 2), QString::fromStdString(m_projection->features[order[i]]));
  }
  return tr("Component %1, %2 % of the variance: %3")
      .arg(axis + 1)
      .arg(percentText(m_projection->share[static_cast<size_t>(axis)]), parts.join(QLatin1Char(' ')));
}

void ProjectionView::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = themeOf(this);
  if (m_image.isNull()) rasterize();
  p.drawImage(0, 0, m_image);
  if (!m_projection || m_projection->x.empty() || m_projection->x.size() != m_points->size()) return;
  const QRectF a = area();
  p.setPen(theme.border);
  p.drawRect(a);
  p.setRenderHint(QPainter::Antialiasing);
  p.setPen(QPen(theme.text, 1));
  for (size_t point = m_points->size() - std::min(kTrail, m_points->size()); point < m_points->size(); ++point) p.drawEllipse(pixelOf(point), 4, 4);
  for (size_t point = 0; point < m_points->size(); ++point) {
    if (m_points->number[point] != m_selected) continue;
    p.setPen(QPen(theme.base, 5));
    p.drawEllipse(pixelOf(point), 8, 8);
    p.setPen(QPen(theme.accent, 2.5));
    p.drawEllipse(pixelOf(point), 8, 8);
  }
  const int line = p.fontMetrics().height();
  p.setPen(theme.mutedText);
  p.drawText(QRectF(a.left(), a.bottom() + 4, a.width(), line), Qt::AlignCenter,
             p.fontMetrics().elidedText(axisText(0), Qt::ElideRight, static_cast<int>(a.width())));
  p.translate(4, a.center().y());
  p.rotate(-90);
  p.drawText(QRectF(-a.height() / 2, 0, a.height(), line), Qt::AlignCenter,
             p.fontMetrics().elidedText(axisText(1), Qt::ElideRight, static_cast<int>(a.height())));
}

void ProjectionView::resizeEvent(QResizeEvent* event) {
  m_image = {};
  QWidget::resizeEvent(event);
}

void ProjectionView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) m_image = {};
  QWidget::changeEvent(event);
}

int ProjectionView::pointNear(const QPointF& pixel) const {
  if (!m_projection || m_projection->x.size() != (m_points ? m_points->size() : 0)) return -1;
  int best = -1;
  double nearest = 8 * 8;
  for (size_t p = 0; p < m_points->size(); ++p) {
    const QPointF d = pixelOf(p) - pixel;
    const double distance = d.x() * d.x() + d.y() * d.y();
    // Of points in one place the fastest, which is the one on top.
    if (distance > nearest || (best >= 0 && distance == nearest && m_points->seconds[p] >= m_points->seconds[static_cast<size_t>(best)])) continue;
    nearest = distance;
    best = static_cast<int>(p);
  }
  return best;
}

void ProjectionView::mousePressEvent(QMouseEvent* event) {
  const int point = pointNear(event->position());
  if (point >= 0) Q_EMIT trialActivated(m_points->number[static_cast<size_t>(point)]);
}

void ProjectionView::keyPressEvent(QKeyEvent* event) {
  const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  if (step == 0 || !m_points || m_points->size() == 0) return QWidget::keyPressEvent(event);
  const auto at = std::lower_bound(m_points->number.begin(), m_points->number.end(), m_selected);
  const auto next = std::clamp<std::ptrdiff_t>(at - m_points->number.begin() + step, 0, static_cast<std::ptrdiff_t>(m_points->size()) - 1);
  Q_EMIT trialActivated(m_points->number[static_cast<size_t>(next)]);
}

bool ProjectionView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int point = pointNear(help->pos());
  if (point < 0) {
    QToolTip::hideText();
    return true;
  }
  const auto p = static_cast<size_t>(point);
  const QString what = m_points->ok(p) ? secondsText(static_cast<double>(m_points->seconds[p])) : statusText(m_points->status[p]);
  QToolTip::showText(help->globalPos(),
                     tr("Trial %1: %2\n%3")
                         .arg(countText(m_points->number[p]), what, choicesText(*m_points, p))
                         .toHtmlEscaped()
                         .replace(QLatin1Char('\n'), QStringLiteral("<br>")),
                     this);
  return true;
}

QString ProjectionView::summary() const {
  if (!m_projection || m_projection->x.empty()) return tr("Too few trials to project");
  return tr("%1 trials; the plane holds %2 % of their variance")
      .arg(countText(static_cast<qint64>(m_points->size())), percentText(m_projection->share[0] + m_projection->share[1]));
}

Table ProjectionView::table() const {
  Table table;
  table.columns = {tr("trial"), tr("component 1"), tr("component 2"), tr("time [s]"), tr("result")};
  if (!m_projection || m_projection->x.size() != (m_points ? m_points->size() : 0)) return table;
  for (size_t p = 0; p < m_points->size(); ++p) {
    table.rows.push_back({QString::number(m_points->number[p]), QString::number(static_cast<double>(m_projection->x[p]), 'g', 7),
                          QString::number(static_cast<double>(m_projection->y[p]), 'g', 7),
                          m_points->ok(p) ? QString::number(static_cast<double>(m_points->seconds[p]), 'g', 7) : QString(),
                          QLatin1String(records::status_name(m_points->status[p]))});
  }
  return table;
}

}  // namespace tw::widgets
