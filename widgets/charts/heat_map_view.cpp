// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/heat_map_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <cmath>

#include "widgets/charts/color_scale.h"
#include "widgets/common/format.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {
constexpr int kLegend = 26;
}

HeatMapView::HeatMapView(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("view.space.heatmap"));
  setAccessibleName(tr("Heat map of two knobs"));
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(160, 120);
}

void HeatMapView::setMap(const HeatMap& map, const std::shared_ptr<const space::ConfigSpace>& space) {
  m_map = map;
  m_space = space;
  m_best = HUGE_VAL, m_worst = 0;
  for (const HeatMap::Cell& cell : m_map.cells) {
    if (cell.state == HeatMap::State::ok) m_best = std::min(m_best, cell.best), m_worst = std::max(m_worst, cell.best);
  }
  if (m_column >= m_map.columns || m_row >= m_map.rows) m_column = m_row = -1;
  setAccessibleDescription(summary());
  update();
}

void HeatMapView::setIndex(qint64 index) {
  m_column = m_row = -1;
  if (m_space && index >= 0 && index < m_space->size() && !m_map.cells.empty()) {
    const std::vector<int> positions = m_space->knob_positions(index);
    m_column = positions[static_cast<size_t>(m_map.x)], m_row = positions[static_cast<size_t>(m_map.y)];
  }
  update();
}

QString HeatMapView::columnText(int column) const {
  return knobValueText(m_map.across, m_map.across.candidates[static_cast<size_t>(column)]);
}

QString HeatMapView::rowText(int row) const {
  return knobValueText(m_map.down, m_map.down.candidates[static_cast<size_t>(row)]);
}

QRectF HeatMapView::area() const {
  const QFontMetrics metrics(font());
  int widest = 20;
  if (!m_map.cells.empty()) {
    for (int row = 0; row < m_map.rows; ++row) widest = std::max(widest, metrics.horizontalAdvance(rowText(row)));
  }
  const int left = std::min(widest, width() / 3) + metrics.height() + 12;
  const int bottom = 2 * metrics.height() + 14;
  return QRectF(left, 6, std::max(10, width() - left - 8), std::max(10, height() - bottom - kLegend - 6));
}

QRectF HeatMapView::cellRect(int column, int row) const {
  const QRectF a = area();
  const double w = a.width() / m_map.columns, h = a.height() / m_map.rows;
  return {a.left() + column * w, a.top() + row * h, w, h};
}

QPoint HeatMapView::cellAt(const QPointF& pixel) const {
  const QRectF a = area();
  if (m_map.cells.empty() || !a.contains(pixel)) return {-1, -1};
  return {std::min(m_map.columns - 1, static_cast<int>((pixel.x() - a.left()) / a.width() * m_map.columns)),
          std::min(m_map.rows - 1, static_cast<int>((pixel.y() - a.top()) / a.height() * m_map.rows))};
}

void HeatMapView::paintCell(QPainter& p, int column, int row) const {
  const Theme& theme = themeOf(this);
  const HeatMap::Cell& cell = m_map.at(column, row);
  const QRectF rect = cellRect(column, row).adjusted(0.5, 0.5, -0.5, -0.5);
  const bool roomy = rect.width() >= 12 && rect.height() >= 10;
  switch (cell.state) {
    case HeatMap::State::ok: {
      const double span = std::log(m_worst / m_best);
      const QColor fill = viridis(span > 0 ? 1 - std::log(cell.best / m_best) / span : 1);
      p.fillRect(rect, fill);
      const QString text = numberText(cell.best * timeUnit(m_best).perSecond, 3);
      if (rect.height() < p.fontMetrics().height() + 2 || rect.width() < p.fontMetrics().horizontalAdvance(text) + 4) return;
      p.setPen(contrastRatio(Qt::white, fill) > contrastRatio(Qt::black, fill) ? Qt::white : Qt::black);
      p.drawText(rect, Qt::AlignCenter, text);
      return;
    }
    case HeatMap::State::failed:
      p.fillRect(rect, theme.base);
      p.setPen(QPen(theme.error, 1.6));
      if (roomy) {
        const QRectF cross = QRectF(0, 0, 7, 7).translated(rect.center() - QPointF(3.5, 3.5));
        p.drawLine(cross.topLeft(), cross.bottomRight());
        p.drawLine(cross.topRight(), cross.bottomLeft());
      } else {
        p.drawLine(rect.topLeft(), rect.bottomRight());
      }
      return;
    case HeatMap::State::refused:
      p.fillRect(rect, theme.raised);
      p.setPen(QPen(theme.mutedText, 1.4));
      if (roomy) p.drawLine(rect.center() - QPointF(4, 0), rect.center() + QPointF(4, 0));
      return;
    case HeatMap::State::untried:
      p.fillRect(rect, theme.base);
      p.fillRect(rect, QBrush(theme.border, Qt::BDiagPattern));
      return;
  }
}

void HeatMapView::paintAxes(QPainter& p) const {
  const Theme& theme = themeOf(this);
  const QRectF a = area();
  const QFontMetrics metrics = p.fontMetrics();
  p.setPen(theme.mutedText);
  // Labels only where they do not touch each other.
  double free = a.left() - 1e9;
  for (int column = 0; column < m_map.columns; ++column) {
    const QRectF cell = cellRect(column, 0);
    const QString text = columnText(column);
    const double width = metrics.horizontalAdvance(text), left = std::clamp(cell.center().x() - width / 2, 0.0, this->width() - width);
    if (left < free) continue;
    p.drawText(QRectF(left, a.bottom() + 2, width + 2, metrics.height()), Qt::AlignCenter, text);
    free = left + width + 8;
  }
  free = a.top() - 1e9;
  for (int row = 0; row < m_map.rows; ++row) {
    const QRectF cell = cellRect(0, row);
    const double top = cell.center().y() - metrics.height() / 2.0;
    if (top < free) continue;
    const double room = a.left() - metrics.height() - 8;
    p.drawText(QRectF(metrics.height() + 4, top, room, metrics.height()), Qt::AlignRight | Qt::AlignVCenter,
               metrics.elidedText(rowText(row), Qt::ElideMiddle, static_cast<int>(room)));
    free = top + metrics.height();
  }
  p.setPen(theme.text);
  p.drawText(QRectF(a.left(), a.bottom() + metrics.height() + 4, a.width(), metrics.height()), Qt::AlignCenter,
             QString::fromStdString(m_map.across.name));
  p.save();
  p.translate(2, a.center().y());
  p.rotate(-90);
  p.drawText(QRectF(-a.height() / 2, 0, a.height(), metrics.height()), Qt::AlignCenter, QString::fromStdString(m_map.down.name));
  p.restore();
}

void HeatMapView::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = themeOf(this);
  p.fillRect(rect(), theme.base);
  if (m_map.cells.empty()) return;
  for (int row = 0; row < m_map.rows; ++row)
    for (int column = 0; column < m_map.columns; ++column) paintCell(p, column, row);
  p.setPen(theme.border);
  p.drawRect(area());
  p.setRenderHint(QPainter::Antialiasing);
  paintAxes(p);
  if (m_column >= 0) {
    p.setBrush(Qt::NoBrush);
    p.setPen(QPen(theme.base, 4));
    p.drawRect(cellRect(m_column, m_row).adjusted(1, 1, -1, -1));
    p.setPen(QPen(theme.accent, 2));
    p.drawRect(cellRect(m_column, m_row).adjusted(1, 1, -1, -1));
  }
  // What the colours and marks mean.
  const int top = height() - kLegend + 4, h = p.fontMetrics().height();
  double x = 8;
  p.setPen(theme.text);
  const auto say = [&](const QString& text) {
    p.setPen(theme.text);
    p.drawText(QPointF(x, top + p.fontMetrics().ascent()), text);
    x += p.fontMetrics().horizontalAdvance(text) + 12;
  };
  if (m_worst > 0) {
    say(secondsText(m_best));
    x -= 6;
    for (int i = 0; i < 60; ++i) p.fillRect(QRectF(x + i, top + 2, 1.5, h - 4), viridis(1 - i / 59.0));
    x += 66;
    say(secondsText(m_worst));
    say(tr("numbers in %1").arg(timeUnit(m_best).name));
  }
  p.setPen(QPen(theme.error, 1.6));
  p.drawLine(QPointF(x, top + 3), QPointF(x + 7, top + 10));
  p.drawLine(QPointF(x + 7, top + 3), QPointF(x, top + 10));
  x += 12;
  say(tr("failed"));
  p.fillRect(QRectF(x, top + 1, 12, h - 2), QBrush(theme.mutedText, Qt::BDiagPattern));
  x += 16;
  say(tr("not tried"));
  p.fillRect(QRectF(x, top + 1, 12, h - 2), theme.raised);
  p.setPen(QPen(theme.mutedText, 1.4));
  p.drawLine(QPointF(x + 2, top + h / 2.0), QPointF(x + 10, top + h / 2.0));
  x += 16;
  say(tr("refused by a rule"));
}

QString HeatMapView::cellText(int column, int row) const {
  const HeatMap::Cell& cell = m_map.at(column, row);
  const QString where = QStringLiteral("%1 %2, %3 %4")
                            .arg(QString::fromStdString(m_map.across.name), columnText(column),
                                 QString::fromStdString(m_map.down.name), rowText(row));
  switch (cell.state) {
    case HeatMap::State::ok:
      return tr("%1: best %2, trial %3; %4 trials, %5 failed")
          .arg(where, secondsText(cell.best), countText(cell.bestNumber), countText(cell.trials), countText(cell.failures));
    case HeatMap::State::failed:
      return tr("%1: all %2 trials failed").arg(where, countText(cell.trials));
    case HeatMap::State::refused:
      return tr("%1: refused by a rule of the space at this point of the other knobs").arg(where);
    case HeatMap::State::untried:
      break;
  }
  return tr("%1: not tried").arg(where);
}

void HeatMapView::activate(int column, int row) {
  m_column = column, m_row = row;
  update();
  const HeatMap::Cell& cell = m_map.at(column, row);
  if (cell.bestNumber >= 0)
    Q_EMIT trialActivated(cell.bestNumber);
  else
    Q_EMIT pointActivated(cell.index);
}

void HeatMapView::mousePressEvent(QMouseEvent* event) {
  const QPoint cell = cellAt(event->position());
  if (cell.x() >= 0) activate(cell.x(), cell.y());
}

void HeatMapView::keyPressEvent(QKeyEvent* event) {
  const int dx = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  const int dy = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
  if ((dx == 0 && dy == 0) || m_map.cells.empty()) return QWidget::keyPressEvent(event);
  activate(std::clamp(m_column + dx, 0, m_map.columns - 1), std::clamp(m_row + dy, 0, m_map.rows - 1));
}

bool HeatMapView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QPoint cell = cellAt(help->pos());
    if (cell.x() >= 0)
      QToolTip::showText(help->globalPos(), cellText(cell.x(), cell.y()).toHtmlEscaped(), this);
    else
      QToolTip::hideText();
    return true;
  }
  return QWidget::event(event);
}

QString HeatMapView::summary() const {
  if (m_map.cells.empty()) return tr("No knobs");
  int tried = 0, failed = 0, refused = 0;
  const HeatMap::Cell* best = nullptr;
  for (const HeatMap::Cell& cell : m_map.cells) {
    tried += cell.trials > 0 ? 1 : 0;
    failed += cell.state == HeatMap::State::failed ? 1 : 0;
    refused += cell.state == HeatMap::State::refused ? 1 : 0;
    if (cell.state == HeatMap::State::ok && (!best || cell.best < best->best)) best = &cell;
  }
  const QString counts = tr("%1 of %2 cells tried, %3 of them without success, %4 refused").arg(tried).arg(m_map.cells.size()).arg(failed).arg(refused);
  return best ? tr("%1; best %2 in trial %3").arg(counts, secondsText(best->best), countText(best->bestNumber)) : counts;
}

Table HeatMapView::table() const {
  Table table;
  if (m_map.cells.empty()) return table;
  table.columns = {QString::fromStdString(m_map.across.name),
                   QString::fromStdString(m_map.down.name),
                   tr("state"),
                   tr("best [s]"),
                   tr("trial"),
                   tr("trials"),
                   tr("failures")};
  static constexpr const char* kStates[] = {"untried", "refused", "failed", "ok"};
  for (int row = 0; row < m_map.rows; ++row) {
    for (int column = 0; column < m_map.columns; ++column) {
      const HeatMap::Cell& cell = m_map.at(column, row);
      const bool ok = cell.state == HeatMap::State::ok;
      table.rows.push_back({columnText(column), rowText(row), QLatin1String(kStates[static_cast<size_t>(cell.state)]),
                            ok ? QString::number(cell.best, 'g', 10) : QString(), cell.bestNumber < 0 ? QString() : QString::number(cell.bestNumber),
                            QString::number(cell.trials), QString::number(cell.failures)});
    }
  }
  return table;
}

}  // namespace tw::widgets
