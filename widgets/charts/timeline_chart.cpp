// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/timeline_chart.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "widgets/common/format.h"
#include "widgets/theme/theme.h"
#include "widgets/tuning/status_text.h"

namespace tw::widgets {
namespace {

constexpr double kMostZoom = 1e-3;  ///< seconds across the plot, at least
constexpr int kTickPixels = 90, kMargin = 6, kStagePixels = 40;
constexpr size_t kStageOrder[] = {0, 1, 3, 2};  ///< in time: of TimelineTrial::stages_s, verified before it is timed

QColor laneColour(TimelineLane lane, const Theme& theme) {
  switch (lane) {
    case TimelineLane::extract:
      return theme.series[3];
    case TimelineLane::search:
      return theme.series[4];
    case TimelineLane::build:
      return theme.series[1];
    case TimelineLane::measure:
      return theme.series[0];
    case TimelineLane::finals:
      return theme.series[2];
    case TimelineLane::pause:
      break;
  }
  return theme.edge;
}

/// 1, 2 or 5 times a power of ten.
double tickStep(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double m : {1.0, 2.0, 5.0})
    if (m * power >= least) return m * power;
  return 10 * power;
}

}  // namespace

TimelineChart::TimelineChart(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("view.path.timeline"));
  setAccessibleName(tr("The session's time"));
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAutoFillBackground(true);
  setBackgroundRole(QPalette::Base);
}

QSize TimelineChart::minimumSizeHint() const { return {260, static_cast<int>((kTimelineLanes + 1.6) * (fontMetrics().height() + 4))}; }

void TimelineChart::setTimeline(SessionTimeline timeline) {
  const bool same = timeline.begin_s == m_timeline.begin_s;
  m_timeline = std::move(timeline);
  if (!same) m_from = m_shown = 0;
  setAccessibleDescription(m_timeline.spans.empty() ? tr("No time was spent yet") : tr("%1 of which measuring took %2").arg(durationText(m_timeline.length_s), durationText(m_timeline.total_s[static_cast<size_t>(TimelineLane::measure)])));
  update();
}

void TimelineChart::setRound(int64_t round) {
  if (m_round == round) return;
  m_round = round;
  update();
}

std::vector<TimelineLane> TimelineChart::lanes() const {
  std::vector<TimelineLane> all;
  for (size_t i = 0; i < kTimelineLanes; ++i)
    if (const auto lane = static_cast<TimelineLane>(i); m_timeline.has(lane)) all.push_back(lane);
  return all;
}

double TimelineChart::laneHeight() const { return plot().height() / static_cast<double>(lanes().size()); }

double TimelineChart::laneTop(TimelineLane lane) const {
  const std::vector<TimelineLane> all = lanes();
  return plot().top() + static_cast<double>(std::find(all.begin(), all.end(), lane) - all.begin()) * laneHeight();
}

QRectF TimelineChart::plot() const {
  int names = 0;
  for (const TimelineLane lane : lanes()) names = std::max(names, fontMetrics().horizontalAdvance(timelineLaneText(lane)));
  const double left = names + 2 * kMargin, axis = fontMetrics().height() + 4;
  return {left, 2, std::max(10.0, width() - left - kMargin), std::max(10.0, height() - axis - 4)};
}

double TimelineChart::toX(double seconds) const {
  const double length = m_shown > 0 ? m_shown : std::max(m_timeline.length_s, kMostZoom);
  return plot().left() + (seconds - m_from) / length * plot().width();
}

double TimelineChart::toSeconds(double x) const {
  const double length = m_shown > 0 ? m_shown : std::max(m_timeline.length_s, kMostZoom);
  return m_from + (x - plot().left()) / plot().width() * length;
}

void TimelineChart::showPart(double from, double length) {
  const double all = std::max(m_timeline.length_s, kMostZoom);
  length = std::clamp(length, std::min(kMostZoom, all), all);
  m_shown = length >= all ? 0 : length;
  m_from = m_shown == 0 ? 0 : std::clamp(from, 0.0, all - length);
  update();
}

void TimelineChart::zoom(double factor, double at) {
  const double length = m_shown > 0 ? m_shown : std::max(m_timeline.length_s, kMostZoom);
  showPart(at - (at - m_from) * factor, length * factor);
}

void TimelineChart::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = themeOf(this);
  const QRectF area = plot();
  const double lane = laneHeight();
  p.setPen(theme.text);
  for (const TimelineLane l : lanes()) {
    p.drawText(QRectF(kMargin, laneTop(l), area.left() - 2 * kMargin, lane), Qt::AlignLeft | Qt::AlignVCenter, timelineLaneText(l));
    p.fillRect(QRectF(area.left(), laneTop(l) + lane - 1, area.width(), 1), theme.grid);
  }
  // The axis.
  const double length = m_shown > 0 ? m_shown : std::max(m_timeline.length_s, kMostZoom);
  const double step = tickStep(length * kTickPixels / area.width());
  p.setPen(theme.mutedText);
  for (double s = std::ceil(m_from / step) * step; s <= m_from + length * 1.0001; s += step) {
    const double x = toX(s);
    p.fillRect(QRectF(x, area.top(), 1, area.height()), theme.grid);
    const QString text = length < 10 ? secondsText(s) : durationText(s);
    const double w = p.fontMetrics().horizontalAdvance(s == 0 ? QStringLiteral("0") : text);
    p.drawText(QRectF(std::clamp(x - w / 2, area.left(), area.right() - w), area.bottom() + 2, w + 2, p.fontMetrics().height()), Qt::AlignLeft, s == 0 ? QStringLiteral("0") : text);
  }
  p.setClipRect(area);
  const double pad = std::max(2.0, lane / 8);
  std::array<double, kTimelineLanes> drawn;
  drawn.fill(-1);
  for (const TimelineSpan& s : m_timeline.spans) {
    const double end = s.open ? m_timeline.length_s : s.end_s;
    const double x = toX(s.begin_s), right = std::max(toX(end), x + 1);
    if (right < area.left() || x > area.right()) continue;
    double& last = drawn[static_cast<size_t>(s.lane)];
    if (right <= last) continue;
    last = right;
    const QRectF box(x, laneTop(s.lane) + pad, right - x, lane - 2 * pad);
    QColor fill = laneColour(s.lane, theme);
    if (s.lane == TimelineLane::measure) fill.setAlpha(70);
    p.fillRect(box, fill);
    if (s.round != 0 && s.round == m_round) {
      p.setPen(QPen(theme.accent, 2));
      p.drawRect(box.adjusted(1, 1, -1, -1));
    }
    const QString text = p.fontMetrics().elidedText(s.round > 0 ? QString::number(s.round) : s.what, Qt::ElideRight, static_cast<int>(box.width()) - 6);
    if (box.width() > 24 && s.lane != TimelineLane::measure && p.fontMetrics().height() < box.height() + 2) {
      p.setPen(contrastRatio(theme.text, fill) >= contrastRatio(theme.base, fill) ? theme.text : theme.base);
      p.drawText(box.adjusted(3, 0, -3, 0), Qt::AlignLeft | Qt::AlignVCenter, text);
    }
  }
  double last = -1;
  for (const TimelineTrial& t : m_timeline.trials) {
    const double x = toX(t.begin_s), right = std::max(toX(t.end_s), x + 1);
    if (right < area.left() || x > area.right() || right <= last) continue;
    last = right;
    const QRectF box(x, laneTop(TimelineLane::measure) + pad + 2, std::max(1.0, right - x - (right - x > 3 ? 1 : 0)), lane - 2 * pad - 4);
    const QColor fill = t.status != records::Status::ok ? theme.error : t.censored ? theme.warning : laneColour(TimelineLane::measure, theme);
    p.fillRect(box, t.censored || t.status != records::Status::ok ? QBrush(fill, Qt::Dense3Pattern) : QBrush(fill));
    if (box.width() < kStagePixels) continue;
    // Where there is room, a candidate's own stages.
    p.setPen(contrastRatio(theme.text, fill) >= contrastRatio(theme.base, fill) ? theme.text : theme.base);
    double from = box.left();
    for (const size_t stage : kStageOrder) {
      const double to = from + t.stages_s[stage] / std::max(t.end_s - t.begin_s, 1e-9) * box.width();
      if (from > box.left()) p.drawLine(QPointF(from, box.top()), QPointF(from, box.bottom()));
      const QString text = trialStageText(stage);
      if (p.fontMetrics().horizontalAdvance(text) + 6 < to - from && p.fontMetrics().height() < box.height() + 2)
        p.drawText(QRectF(from + 3, box.top(), to - from - 3, box.height()), Qt::AlignLeft | Qt::AlignVCenter, text);
      from = to;
    }
  }
  if (hasFocus()) {
    p.setClipping(false);
    p.setPen(QPen(theme.accent, 1));
    p.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

QString TimelineChart::describeAt(const QPointF& place) const {
  const QRectF area = plot();
  if (!area.contains(place)) return {};
  const double seconds = toSeconds(place.x()), near = std::abs(toSeconds(place.x() + 2) - seconds);
  const std::vector<TimelineLane> all = lanes();
  const TimelineLane lane = all[static_cast<size_t>(std::clamp(static_cast<int>((place.y() - area.top()) / laneHeight()), 0, static_cast<int>(all.size()) - 1))];
  const auto hit = [&](double begin, double end) { return seconds >= begin - near && seconds <= end + near; };
  if (lane == TimelineLane::measure) {
    for (const TimelineTrial& t : m_timeline.trials)
      if (hit(t.begin_s, t.end_s)) {
        QStringList stages;
        for (const size_t stage : kStageOrder)
          if (t.stages_s[stage] > 0) stages << QStringLiteral("%1 %2").arg(trialStageText(stage), secondsText(t.stages_s[stage]));
        const QString outcome = t.censored ? tr("stopped early") : statusText(t.status);
        return tr("Round %1: a candidate for %2: %3 (%4)").arg(t.round).arg(secondsText(t.end_s - t.begin_s), outcome, stages.join(QStringLiteral(", ")));
      }
  }
  for (const TimelineSpan& s : m_timeline.spans)
    if (s.lane == lane && hit(s.begin_s, s.open ? m_timeline.length_s : s.end_s)) return tr("%1: %2 for %3").arg(s.what, timelineLaneText(lane), secondsText((s.open ? m_timeline.length_s : s.end_s) - s.begin_s));
  return {};
}

int64_t TimelineChart::roundAt(const QPointF& place) const {
  const double seconds = toSeconds(place.x());
  int64_t round = 0;
  for (const TimelineSpan& s : m_timeline.spans)
    if (s.round > 0 && s.begin_s <= seconds) round = std::max(round, s.round);
  return round;
}

bool TimelineChart::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    auto* help = static_cast<QHelpEvent*>(event);
    const QString text = describeAt(help->pos());
    if (text.isEmpty())
      QToolTip::hideText();
    else
      QToolTip::showText(help->globalPos(), text.toHtmlEscaped(), this);
    return true;
  }
  return QWidget::event(event);
}

void TimelineChart::wheelEvent(QWheelEvent* event) {
  if (!(event->modifiers() & Qt::ControlModifier)) return event->ignore();
  zoom(std::pow(0.9985, event->angleDelta().y()), toSeconds(event->position().x()));
  event->accept();
}

void TimelineChart::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
  m_pressed = event->position();
  m_pressedFrom = m_from;
  m_dragged = false;
}

void TimelineChart::mouseMoveEvent(QMouseEvent* event) {
  if (!(event->buttons() & Qt::LeftButton)) return;
  const QPointF moved = event->position() - m_pressed;
  if (!m_dragged && moved.manhattanLength() < 5) return;
  m_dragged = true;
  if (m_shown > 0) showPart(m_pressedFrom - moved.x() / plot().width() * m_shown, m_shown);
}

void TimelineChart::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || m_dragged) return;
  if (const int64_t round = roundAt(event->position()); round > 0) Q_EMIT roundActivated(round);
}

void TimelineChart::mouseDoubleClickEvent(QMouseEvent*) { showPart(0, HUGE_VAL); }

void TimelineChart::keyPressEvent(QKeyEvent* event) {
  const double length = m_shown > 0 ? m_shown : m_timeline.length_s, middle = m_from + length / 2;
  switch (event->key()) {
    case Qt::Key_W:
    case Qt::Key_Plus:
      return zoom(0.7, middle);
    case Qt::Key_S:
    case Qt::Key_Minus:
      return zoom(1 / 0.7, middle);
    case Qt::Key_A:
      return showPart(m_from - length / 4, length);
    case Qt::Key_D:
      return showPart(m_from + length / 4, length);
    case Qt::Key_F:
      return showPart(0, HUGE_VAL);
    case Qt::Key_Left:
    case Qt::Key_Right: {
      int64_t last = 0;
      for (const TimelineSpan& s : m_timeline.spans) last = std::max(last, s.round);
      const int64_t round = m_round == 0 ? last : std::clamp<int64_t>(m_round + (event->key() == Qt::Key_Right ? 1 : -1), 1, std::max<int64_t>(last, 1));
      if (last > 0) Q_EMIT roundActivated(round);
      return;
    }
    default:
      QWidget::keyPressEvent(event);
  }
}

Table TimelineChart::table() const {
  Table table;
  table.columns = {tr("what"), tr("round"), tr("begins [s]"), tr("ends [s]"), tr("of")};
  for (size_t stage = 0; stage < 4; ++stage) table.columns << tr("%1 [s]").arg(trialStageText(stage));
  const auto number = [](double v) { return QString::number(v, 'g', 10); };
  for (const TimelineSpan& s : m_timeline.spans)
    table.rows.push_back({timelineLaneText(s.lane), s.round > 0 ? QString::number(s.round) : QString(), number(s.begin_s), number(s.end_s), s.what, {}, {}, {}, {}});
  for (const TimelineTrial& t : m_timeline.trials) {
    table.rows.push_back({tr("candidate, %1").arg(statusText(t.status)), QString::number(t.round), number(t.begin_s), number(t.end_s), {}});
    for (const double s : t.stages_s) table.rows.back() << (s > 0 ? number(s) : QString());
  }
  return table;
}

}  // namespace tw::widgets
