// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/arena_chart.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "widgets/common/format.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {

constexpr int kNamedNeighbours = 3;
constexpr double kArenaMargin = 8;

bool sharePlace(const ArenaChart::Buffer& a, const ArenaChart::Buffer& b) { return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes; }

}  // namespace

ArenaChart::ArenaChart(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("view.build.arena"));
  setAccessibleName(tr("Plan of the network's memory"));
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(260, 160);
}

void ArenaChart::setPlan(std::vector<Buffer> buffers, QStringList calls, qint64 arenaBytes, qint64 liveBytes, qint64 unplannedBytes) {
  m_buffers = std::move(buffers);
  std::stable_sort(m_buffers.begin(), m_buffers.end(), [](const Buffer& a, const Buffer& b) { return a.first < b.first; });
  m_calls = std::move(calls);
  m_arena = arenaBytes, m_live = liveBytes, m_unplanned = unplannedBytes;
  m_current = -1;
  setAccessibleDescription(summary());
  update();
}

void ArenaChart::setCurrent(int buffer) {
  m_current = buffer;
  setAccessibleDescription(buffer < 0 ? summary() : describe(buffer));
  update();
}

void ArenaChart::showCalls(const std::vector<int>& calls) {
  const auto made = [&](const Buffer& b) { return std::find(calls.begin(), calls.end(), b.first) != calls.end(); };
  if (m_current >= 0 && made(m_buffers[static_cast<size_t>(m_current)])) return;
  const auto found = std::find_if(m_buffers.begin(), m_buffers.end(), made);
  setCurrent(found == m_buffers.end() ? -1 : static_cast<int>(found - m_buffers.begin()));
}

QString ArenaChart::summary() const {
  if (m_buffers.empty()) return tr("No intermediates");
  return tr("%1 intermediates in %2; at least %3 are needed, %4 without sharing")
      .arg(countText(static_cast<qint64>(m_buffers.size())), bytesText(static_cast<double>(m_arena)), bytesText(static_cast<double>(m_live)),
           bytesText(static_cast<double>(m_unplanned)));
}

QString ArenaChart::describe(int buffer) const {
  const Buffer& b = m_buffers[static_cast<size_t>(buffer)];
  QStringList others;
  for (const Buffer& o : m_buffers)
    if (&o != &b && sharePlace(b, o)) others << o.name;
  const qsizetype more = others.size() - kNamedNeighbours;
  QString text = tr("%1: %2 at %3; made by %4, read last by %5")
                     .arg(b.name, bytesText(static_cast<double>(b.bytes)), bytesText(static_cast<double>(b.offset)), m_calls.value(b.first), m_calls.value(b.last));
  if (!others.isEmpty())
    text += tr("; shares its place with %1").arg(others.mid(0, kNamedNeighbours).join(QStringLiteral(", "))) + (more > 0 ? tr(" and %n more", nullptr, static_cast<int>(more)) : QString());
  return text;
}

QRectF ArenaChart::plot() const {
  const int line = fontMetrics().height();
  const double left = fontMetrics().horizontalAdvance(QStringLiteral("999.9 MB")) + kArenaMargin;
  return {left, kArenaMargin, std::max(10.0, width() - left - kArenaMargin), std::max(10.0, height() - 2.0 * line - 2 * kArenaMargin)};
}

QRectF ArenaChart::boxOf(const Buffer& b) const {
  const QRectF area = plot();
  const double calls = std::max<double>(1, static_cast<double>(m_calls.size())), bytes = std::max<double>(1, static_cast<double>(m_arena));
  const double x = area.left() + area.width() * b.first / calls, right = area.left() + area.width() * (b.last + 1) / calls;
  const double high = area.height() * static_cast<double>(b.bytes) / bytes, bottom = area.bottom() - area.height() * static_cast<double>(b.offset) / bytes;
  return {x, bottom - high, std::max(1.0, right - x), std::max(1.0, high)};
}

void ArenaChart::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = themeOf(this);
  p.fillRect(rect(), theme.base);
  if (m_buffers.empty()) return;
  const QRectF area = plot();
  const int line = fontMetrics().height();
  p.fillRect(area, theme.raised);
  for (size_t i = 0; i < m_buffers.size(); ++i) {
    const QRectF box = boxOf(m_buffers[i]);
    const bool current = static_cast<int>(i) == m_current;
    p.fillRect(box, current ? theme.accent : theme.categorical(static_cast<int>(i)));
    p.setPen(theme.base);
    p.drawRect(box);
    if (box.width() < 40 || box.height() < line) continue;
    p.setPen(current ? theme.base : theme.text);
    p.fillRect(QRectF(box.left() + 2, box.center().y() - line / 2.0, std::min(box.width() - 4, 4.0 + fontMetrics().horizontalAdvance(m_buffers[i].name)), line), theme.base);
    p.setPen(theme.text);
    p.drawText(box.adjusted(4, 0, -2, 0), Qt::AlignLeft | Qt::AlignVCenter, fontMetrics().elidedText(m_buffers[i].name, Qt::ElideRight, static_cast<int>(box.width()) - 6));
  }
  p.setPen(theme.text);
  const auto mark = [&](qint64 bytes) {
    const double y = area.bottom() - area.height() * static_cast<double>(bytes) / std::max<double>(1, static_cast<double>(m_arena));
    p.drawText(QRectF(0, y - line / 2.0, area.left() - 4, line), Qt::AlignRight | Qt::AlignVCenter, bytesText(static_cast<double>(bytes)));
    return y;
  };
  mark(0);
  if (static_cast<double>(m_arena - m_live) * area.height() > 1.5 * line * static_cast<double>(m_arena)) mark(m_arena);
  const double least = mark(m_live);
  p.setPen(QPen(theme.text, 1, Qt::DashLine));
  p.drawLine(QPointF(area.left(), least), QPointF(area.right(), least));
  p.setPen(theme.mutedText);
  p.drawText(QRectF(area.left(), area.bottom() + 2, area.width(), line), Qt::AlignHCenter, tr("Calls of the network, in order"));
  p.drawText(QRectF(0, area.bottom() + 2 + line, width() - kArenaMargin, line), Qt::AlignRight,
             fontMetrics().elidedText(m_current < 0 ? tr("Dashed: the most that one call needs") : describe(m_current), Qt::ElideRight, width() - 16));
}

int ArenaChart::bufferAt(const QPointF& at) const {
  for (size_t i = m_buffers.size(); i-- > 0;)
    if (boxOf(m_buffers[i]).contains(at)) return static_cast<int>(i);
  return -1;
}

void ArenaChart::choose(int buffer) {
  setCurrent(buffer);
  if (buffer >= 0) Q_EMIT callChosen(m_buffers[static_cast<size_t>(buffer)].first);
}

void ArenaChart::mousePressEvent(QMouseEvent* event) { choose(bufferAt(event->position())); }

void ArenaChart::keyPressEvent(QKeyEvent* event) {
  const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  if (step == 0 || m_buffers.empty()) return QWidget::keyPressEvent(event);
  choose(std::clamp(m_current + step, 0, static_cast<int>(m_buffers.size()) - 1));
}

bool ArenaChart::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  const int buffer = bufferAt(help->pos());
  if (buffer >= 0)
    QToolTip::showText(help->globalPos(), describe(buffer).toHtmlEscaped(), this);
  else
    QToolTip::hideText();
  return true;
}

Table ArenaChart::table() const {
  Table table;
  table.columns = {tr("buffer"), tr("offset [B]"), tr("size [B]"), tr("made by"), tr("read last by")};
  for (const Buffer& b : m_buffers)
    table.rows.push_back({b.name, QString::number(b.offset), QString::number(b.bytes), m_calls.value(b.first), m_calls.value(b.last)});
  return table;
}

}  // namespace tw::widgets
