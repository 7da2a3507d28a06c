// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/parallel_view.h"

#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "widgets/charts/color_scale.h"
#include "widgets/common/format.h"
#include "widgets/common/in_background.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {

std::vector<ParallelAxis> parallelAxes(const PointSet& points) {
  std::vector<ParallelAxis> axes;
  if (points.axes.empty()) return axes;
  for (size_t k = 0; k < points.knobs(); ++k) {
    const space::Knob& knob = points.axes[k];
    const int count = static_cast<int>(knob.candidates.size());
    if (count < 2) continue;
    ParallelAxis axis;
    axis.name = QString::fromStdString(knob.name);
    axis.knob = static_cast<int>(k);
    axis.numeric =
        knob.kind == space::KnobKind::split ||
        (knob.kind == space::KnobKind::other && std::all_of(knob.candidates.begin(), knob.candidates.end(), [](const auto& v) { return v.other.is_number(); }));
    axis.rankOf.resize(static_cast<size_t>(count));
    if (axis.numeric) {
      for (int p = 0; p < count; ++p) axis.values.push_back(knobNumber(knob, p));
      std::sort(axis.values.begin(), axis.values.end());
      axis.values.erase(std::unique(axis.values.begin(), axis.values.end()), axis.values.end());
      for (int p = 0; p < count; ++p)
        axis.rankOf[static_cast<size_t>(p)] =
            static_cast<int>(std::lower_bound(axis.values.begin(), axis.values.end(), knobNumber(knob, p)) - axis.values.begin());
      for (const double v : axis.values) axis.labels.push_back(QString::number(v));
    } else {
      for (int p = 0; p < count; ++p) {
        axis.rankOf[static_cast<size_t>(p)] = p;
        axis.labels.push_back(knobValueText(knob, knob.candidates[static_cast<size_t>(p)]));
      }
    }
    axes.push_back(std::move(axis));
  }
  ParallelAxis time;
  time.name = QStringLiteral("time");
  time.low = HUGE_VAL, time.high = 0;
  for (size_t p = 0; p < points.size(); ++p) {
    if (points.ok(p))
      time.low = std::min(time.low, static_cast<double>(points.seconds[p]) * 1e3),
      time.high = std::max(time.high, static_cast<double>(points.seconds[p]) * 1e3);
  }
  if (time.high == 0) time.low = 1, time.high = 2;
  if (time.high <= time.low) time.high = time.low * 1.01;
  axes.push_back(std::move(time));
  return axes;
}

double parallelPlace(const PointSet& points, size_t point, const ParallelAxis& axis) {
  if (axis.knob < 0) {
    if (!points.ok(point)) return std::nan("");
    return std::log(static_cast<double>(points.seconds[point]) * 1e3 / axis.low) / std::log(axis.high / axis.low);
  }
  const int rank = axis.rankOf[static_cast<size_t>(points.position(point, static_cast<size_t>(axis.knob)))];
  return axis.labels.size() < 2 ? 0.5 : static_cast<double>(rank) / static_cast<double>(axis.labels.size() - 1);
}

QImage parallelRaster(const PointSet& points, const std::vector<ParallelAxis>& axes, const std::vector<char>& kept, QSize size, const std::vector<int>& x,
                      int top, int bottom, QRgb background, QRgb faint, QRgb failed, const std::stop_token& stop) {
  QImage image(size, QImage::Format_RGB32);
  image.fill(background);
  std::vector<uint32_t> order(points.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto isKept = [&](uint32_t p) { return kept.empty() || kept[p] != 0; };
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return isKept(a) != isKept(b) ? isKept(b) : points.seconds[a] > points.seconds[b]; });
  std::vector<QRgb> colours;
  for (const uint32_t p : order) colours.push_back(!isKept(p) ? faint : points.ok(p) ? viridis(1 - parallelPlace(points, p, axes.back())).rgb() : failed);
  std::vector<QRgb*> lines;
  for (int y = 0; y < image.height(); ++y) lines.push_back(reinterpret_cast<QRgb*>(image.scanLine(y)));
  // Of a failure's time there is no row: its line ends before.
  const auto rowsOn = [&](const ParallelAxis& axis) {
    std::vector<int> rows;
    for (const uint32_t p : order) {
      const double place = parallelPlace(points, p, axis);
      rows.push_back(std::isnan(place) ? -1 : std::clamp(bottom - static_cast<int>(std::lround(place * (bottom - top))), 0, image.height() - 1));
    }
    return rows;
  };
  // Knobs have few values, so that many points have the same line from one axis to the next: the last of them covers the others.
  const auto height = static_cast<size_t>(image.height());
  std::vector<bool> covered;
  std::vector<size_t> seen;
  std::vector<int> from = rowsOn(axes.front());
  for (size_t a = 1; a < axes.size() && !stop.stop_requested(); ++a) {
    std::vector<int> to = rowsOn(axes[a]);
    covered.assign(height * height, false);
    seen.clear();
    for (size_t i = order.size(); i-- > 0;) {
      if (from[i] < 0 || to[i] < 0) continue;
      const auto line = covered.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(from[i]) * height + static_cast<size_t>(to[i]));
      if (!*line) *line = true, seen.push_back(i);
    }
    const int x0 = x[a - 1], x1 = x[a];
    for (auto i = seen.rbegin(); i != seen.rend(); ++i) {
      int last = from[*i];
      for (int column = x0; column <= x1; ++column) {
        const int now = x1 > x0 ? from[*i] + (to[*i] - from[*i]) * (column - x0) / (x1 - x0) : to[*i];
        // Steep lines fill the rows that they pass in this column.
        for (int row = std::min(last, now); row <= std::max(last, now); ++row) lines[static_cast<size_t>(row)][column] = colours[*i];
        last = now;
      }
    }
    from = std::move(to);
  }
  return image;
}

ParallelView::ParallelView(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("view.space.parallel"));
  setAccessibleName(tr("Parallel coordinates"));
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(200, 120);
}

ParallelView::~ParallelView() { m_stop.request_stop(); }

void ParallelView::setData(std::shared_ptr<const PointSet> points, std::vector<char> kept) {
  const bool otherSpace = !m_points || !points || m_points->name != points->name || m_points->space != points->space;
  m_points = std::move(points);
  m_kept = std::move(kept);
  m_axes = m_points ? parallelAxes(*m_points) : std::vector<ParallelAxis>();
  if (otherSpace) m_brushes.clear();
  setAccessibleDescription(summary());
  draw();
}

void ParallelView::clearBrushes() {
  m_brushes.clear();
  update();
}

void ParallelView::setSelectedTrial(qint64 number) {
  m_selected = number;
  update();
}

double ParallelView::axisX(size_t axis) const {
  const double margin = 46;
  return m_axes.size() < 2 ? width() / 2.0 : margin + static_cast<double>(axis) * (width() - 2 * margin) / static_cast<double>(m_axes.size() - 1);
}

double ParallelView::top() const { return 2.0 * fontMetrics().height() + 8; }
double ParallelView::bottom() const { return std::max(top() + 20, height() - 1.0 * fontMetrics().height() - 8); }

double ParallelView::placeOf(double y) const { return std::clamp((bottom() - y) / (bottom() - top()), 0.0, 1.0); }

int ParallelView::axisNear(double x) const {
  for (size_t a = 0; a < m_axes.size(); ++a) {
    if (std::abs(axisX(a) - x) < 14) return static_cast<int>(a);
  }
  return -1;
}

void ParallelView::draw() {
  m_stop.request_stop();
  m_stop = {};
  m_drawing = false;
  if (!m_points || m_axes.size() < 2 || width() < 60) {
    m_image = {};
    return update();
  }
  const double ratio = devicePixelRatioF();
  std::vector<int> x;
  for (size_t a = 0; a < m_axes.size(); ++a) x.push_back(std::clamp(static_cast<int>(axisX(a) * ratio), 0, static_cast<int>(width() * ratio) - 1));
  const Theme& theme = themeOf(this);
  m_drawing = true;
  const auto work = [points = m_points, axes = m_axes, kept = m_kept, size = (QSizeF(this->size()) * ratio).toSize(), x, t = static_cast<int>(top() * ratio),
                     b = static_cast<int>(bottom() * ratio), background = theme.base.rgb(), faint = theme.border.rgb(), failed = theme.error.rgb(),
                     stop = m_stop.get_token()] {
    return parallelRaster(*points, axes, kept, size, x, t, b, background, faint, failed, stop);
  };
  inBackground(this, work, [this, ratio, stop = m_stop.get_token()](QImage image) {
    if (stop.stop_requested()) return;
    m_drawing = false;
    m_image = std::move(image);
    m_image.setDevicePixelRatio(ratio);
    update();
  });
}

void ParallelView::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = themeOf(this);
  p.fillRect(rect(), theme.base);
  if (m_axes.size() < 2) return;
  if (!m_image.isNull()) p.drawImage(0, 0, m_image);
  const QFontMetrics metrics = p.fontMetrics();
  p.setRenderHint(QPainter::Antialiasing);
  if (m_selected >= 0) {
    for (size_t point = 0; point < m_points->size(); ++point) {
      if (m_points->number[point] != m_selected) continue;
      QPolygonF line;
      for (size_t a = 0; a < m_axes.size(); ++a) {
        const double place = parallelPlace(*m_points, point, m_axes[a]);
        if (!std::isnan(place)) line << QPointF(axisX(a), bottom() - place * (bottom() - top()));
      }
      p.setPen(QPen(theme.base, 5));
      p.drawPolyline(line);
      p.setPen(QPen(theme.accent, 2.5));
      p.drawPolyline(line);
    }
  }
  p.setRenderHint(QPainter::Antialiasing, false);
  for (size_t a = 0; a < m_axes.size(); ++a) {
    const ParallelAxis& axis = m_axes[a];
    const double x = axisX(a);
    const double gap = m_axes.size() > 1 ? axisX(1) - axisX(0) : width();
    p.setPen(QPen(theme.text, hasFocus() && m_current == static_cast<int>(a) ? 2 : 1));
    p.drawLine(QPointF(x, top()), QPointF(x, bottom()));
    // Names of neighbours stand in two rows, so that they have twice the room.
    const int room = static_cast<int>(2 * gap) - 6;
    p.drawText(QRectF(std::clamp(x - room / 2.0, 2.0, std::max(2.0, width() - room - 2.0)), a % 2 == 0 ? 2 : 2 + metrics.height(), room, metrics.height()),
               a == 0                   ? Qt::AlignLeft
               : a + 1 == m_axes.size() ? Qt::AlignRight
                                        : Qt::AlignHCenter,
               metrics.elidedText(axis.name, Qt::ElideMiddle, room));
    const QString low = axis.knob < 0 ? secondsText(axis.low / 1e3) : axis.labels.front(),
                  high = axis.knob < 0 ? secondsText(axis.high / 1e3) : axis.labels.back();
    const auto tick = [&](const QString& text, double y) {
      const QString shown = metrics.elidedText(text, Qt::ElideMiddle, static_cast<int>(gap) - 8);
      const int width = metrics.horizontalAdvance(shown);
      const QRectF box(std::clamp(x + 4, 0.0, this->width() - width - 2.0), y, width + 2, metrics.height());
      p.fillRect(box, theme.base);
      p.setPen(theme.mutedText);
      p.drawText(box, Qt::AlignLeft, shown);
    };
    tick(high, top() - 2);
    tick(low, bottom() - metrics.height() + 2);
    const auto brush = m_brushes.find(a);
    const bool dragging = m_dragged == static_cast<int>(a);
    if (brush == m_brushes.end() && !dragging) continue;
    const double from = dragging ? std::min(m_from, m_to) : brush->second.first, to = dragging ? std::max(m_from, m_to) : brush->second.second;
    p.setPen(QPen(theme.accent, 2));
    p.setBrush(Qt::NoBrush);
    p.drawRect(QRectF(QPointF(x - 6, bottom() - to * (bottom() - top()) - 3), QPointF(x + 6, bottom() - from * (bottom() - top()) + 3)));
  }
}

void ParallelView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  draw();
}

void ParallelView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) draw();
}

void ParallelView::mousePressEvent(QMouseEvent* event) {
  m_dragged = axisNear(event->position().x());
  if (m_dragged < 0) return;
  m_current = m_dragged;
  m_from = m_to = placeOf(event->position().y());
  update();
}

void ParallelView::mouseMoveEvent(QMouseEvent* event) {
  if (m_dragged < 0) return;
  m_to = placeOf(event->position().y());
  update();
}

void ParallelView::mouseReleaseEvent(QMouseEvent* event) {
  if (m_dragged < 0) return;
  m_to = placeOf(event->position().y());
  const auto axis = static_cast<size_t>(m_dragged);
  m_dragged = -1;
  if (std::abs(m_from - m_to) < 0.02)
    m_brushes.erase(axis);
  else
    m_brushes[axis] = {std::min(m_from, m_to), std::max(m_from, m_to)};
  emitFilter();
  update();
}

void ParallelView::keyPressEvent(QKeyEvent* event) {
  if (m_axes.size() < 2) return QWidget::keyPressEvent(event);
  const auto axis = static_cast<size_t>(std::clamp(m_current, 0, static_cast<int>(m_axes.size()) - 1));
  const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  if (step != 0) {
    m_current = std::clamp(m_current + step, 0, static_cast<int>(m_axes.size()) - 1);
  } else if (event->key() == Qt::Key_Up || event->key() == Qt::Key_Down) {
    // Up raises the lower end of what is kept, Down takes the upper end down.
    auto [low, high] = m_brushes.contains(axis) ? m_brushes[axis] : std::pair(0.0, 1.0);
    if (event->key() == Qt::Key_Up)
      low = std::min(low + 0.1, high - 0.02);
    else
      high = std::max(high - 0.1, low + 0.02);
    m_brushes[axis] = {low, high};
    emitFilter();
  } else if (event->key() == Qt::Key_Escape || event->key() == Qt::Key_Delete) {
    m_brushes.erase(axis);
    emitFilter();
  } else {
    return QWidget::keyPressEvent(event);
  }
  update();
}

QString ParallelView::filterOf(size_t axis, double low, double high) const {
  const ParallelAxis& a = m_axes[axis];
  if (a.knob < 0) {
    const auto milliseconds = [&](double place) { return QString::number(a.low * std::pow(a.high / a.low, place), 'g', 5); };
    QStringList parts;
    if (low > 0) parts << QStringLiteral("time>=") + milliseconds(low);
    if (high < 1) parts << QStringLiteral("time<=") + milliseconds(high);
    return parts.isEmpty() ? QStringLiteral("status=ok") : parts.join(QStringLiteral(" & "));
  }
  const auto last = static_cast<double>(a.labels.size() - 1);
  const auto first = static_cast<size_t>(std::ceil(low * last - 1e-9)), end = static_cast<size_t>(std::floor(high * last + 1e-9));
  if (first > end) return QStringLiteral("number<0");  // the part lies between two values
  if (!a.numeric) {
    QStringList parts;
    for (size_t i = first; i <= end; ++i) {
      QString value = a.labels[i];
      value.remove(QLatin1Char('"'));
      parts << QStringLiteral("%1~\"%2\"").arg(a.name, value);
    }
    return QLatin1Char('(') + parts.join(QStringLiteral(" | ")) + QLatin1Char(')');
  }
  if (first == end) return QStringLiteral("%1=%2").arg(a.name, a.labels[first]);
  QStringList parts;
  if (first > 0) parts << QStringLiteral("%1>=%2").arg(a.name, a.labels[first]);
  if (end + 1 < a.labels.size()) parts << QStringLiteral("%1<=%2").arg(a.name, a.labels[end]);
  return parts.join(QStringLiteral(" & "));
}

void ParallelView::emitFilter() {
  QStringList parts;
  for (const auto& [axis, range] : m_brushes) {
    const QString filter = filterOf(axis, range.first, range.second);
    if (!filter.isEmpty()) parts << filter;
  }
  Q_EMIT brushed(parts.join(QStringLiteral(" & ")));
}

QString ParallelView::summary() const {
  if (!m_points || m_points->size() == 0) return tr("No trials of this space");
  const auto kept = m_kept.empty() ? static_cast<qint64>(m_points->size()) : std::count(m_kept.begin(), m_kept.end(), 1);
  return tr("%1 of %2 trials kept").arg(countText(kept), countText(static_cast<qint64>(m_points->size())));
}

Table ParallelView::table() const {
  Table table;
  if (!m_points) return table;
  table.columns << tr("trial") << tr("kept");
  for (const ParallelAxis& axis : m_axes) table.columns << (axis.knob < 0 ? tr("time [ms]") : axis.name);
  for (size_t p = 0; p < m_points->size(); ++p) {
    QStringList row{QString::number(m_points->number[p]), m_kept.empty() || m_kept[p] ? QStringLiteral("1") : QStringLiteral("0")};
    for (const ParallelAxis& axis : m_axes) {
      if (axis.knob < 0)
        row << (m_points->ok(p) ? QString::number(static_cast<double>(m_points->seconds[p]) * 1e3, 'g', 7) : QString());
      else
        row << axis.labels[static_cast<size_t>(axis.rankOf[static_cast<size_t>(m_points->position(p, static_cast<size_t>(axis.knob)))])];
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace tw::widgets
