// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tuning/lattice_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <map>

#include "widgets/theme/theme.h"
#include "widgets/tuning/knob_text.h"

namespace tw::widgets {

LatticeView::LatticeView(const space::Knob& knob, QWidget* parent) : QWidget(parent), m_knob(knob) {
  const QString name = QString::fromStdString(knob.name);
  setObjectName(QStringLiteral("lattice.knob.") + name);
  setAccessibleName(tr("Factors of %1").arg(name));
  setFocusPolicy(Qt::StrongFocus);
  for (const space::KnobValue& v : knob.candidates) {
    m_inner.push_back(v.split.back());
    m_outer.push_back(v.split[v.split.size() - 2]);
  }
  for (auto* list : {&m_inner, &m_outer}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
}

void LatticeView::setPosition(int position) {
  m_position = position;
  update();
}

QSize LatticeView::sizeHint() const { return {120, std::clamp(static_cast<int>(m_outer.size()) * 9 + 12, 40, 90)}; }

QPointF LatticeView::dotAt(int column, int row) const {
  const double w = width() - 16.0, h = height() - 16.0;
  return {8 + (m_inner.size() < 2 ? w / 2 : w * column / static_cast<double>(m_inner.size() - 1)),
          8 + (m_outer.size() < 2 ? h / 2 : h * row / static_cast<double>(m_outer.size() - 1))};
}

std::pair<int, int> LatticeView::cellOf(int position) const {
  const auto& split = m_knob.candidates[static_cast<size_t>(position)].split;
  return {static_cast<int>(std::lower_bound(m_inner.begin(), m_inner.end(), split.back()) - m_inner.begin()),
          static_cast<int>(std::lower_bound(m_outer.begin(), m_outer.end(), split[split.size() - 2]) - m_outer.begin())};
}

void LatticeView::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = themeOf(this);
  p.fillRect(rect(), theme.base);
  p.setPen(hasFocus() ? theme.accent : theme.border);
  p.drawRect(rect().adjusted(0, 0, -1, -1));
  p.setRenderHint(QPainter::Antialiasing);
  std::map<std::pair<int, int>, int> counts;
  for (int i = 0; i < static_cast<int>(m_knob.candidates.size()); ++i) ++counts[cellOf(i)];
  p.setPen(Qt::NoPen);
  p.setBrush(theme.mutedText);
  for (const auto& [cell, count] : counts) {
    const double radius = std::min(4.0, 1.5 + 0.6 * std::log2(count));
    p.drawEllipse(dotAt(cell.first, cell.second), radius, radius);
  }
  if (m_position < 0 || m_position >= static_cast<int>(m_knob.candidates.size())) return;
  const auto cell = cellOf(m_position);
  p.setBrush(Qt::NoBrush);
  p.setPen(QPen(theme.accent, 2));
  p.drawEllipse(dotAt(cell.first, cell.second), 6, 6);
}

void LatticeView::choose(int column, int row) {
  // From the candidate after the present one on, so that clicks go through all that share the dot.
  const int count = static_cast<int>(m_knob.candidates.size());
  for (int i = 1; i <= count; ++i) {
    const int position = (std::max(0, m_position) + i) % count;
    if (cellOf(position) != std::pair(column, row)) continue;
    setPosition(position);
    Q_EMIT chosen(position);
    return;
  }
}

void LatticeView::mousePressEvent(QMouseEvent* event) {
  int column = 0, row = 0;
  double nearest = HUGE_VAL;
  for (int i = 0; i < static_cast<int>(m_knob.candidates.size()); ++i) {
    const auto [c, r] = cellOf(i);
    const QPointF d = dotAt(c, r) - event->position();
    const double distance = d.x() * d.x() + d.y() * d.y();
    if (distance < nearest) nearest = distance, column = c, row = r;
  }
  choose(column, row);
}

void LatticeView::keyPressEvent(QKeyEvent* event) {
  const int dx = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  const int dy = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
  if (dx == 0 && dy == 0) return QWidget::keyPressEvent(event);
  auto [column, row] = cellOf(std::max(0, m_position));
  // On to the next dot in this direction.
  for (column += dx, row += dy; column >= 0 && column < static_cast<int>(m_inner.size()) && row >= 0 && row < static_cast<int>(m_outer.size());
       column += dx, row += dy) {
    for (int i = 0; i < static_cast<int>(m_knob.candidates.size()); ++i) {
      if (cellOf(i) == std::pair(column, row)) return choose(column, row);
    }
  }
}

bool LatticeView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const QString what = m_position < 0 ? QString() : knobValueText(m_knob, m_knob.candidates[static_cast<size_t>(m_position)]) + QStringLiteral("\n");
  QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(),
                     (what + tr("Across: innermost factor, %1 to %2. Down: the factor around it, %3 to %4.")
                                 .arg(m_inner.front())
                                 .arg(m_inner.back())
                                 .arg(m_outer.front())
                                 .arg(m_outer.back()))
                         .toHtmlEscaped()
                         .replace(QLatin1Char('\n'), QStringLiteral("<br>")),
                     this);
  return true;
}

}  // namespace tw::widgets
