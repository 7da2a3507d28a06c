// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/ir/pass_strip.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/common/format.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {

constexpr int kBarRoom = 46, kLowBarRoom = 22;
/// Of the width, what is divided equally, so that quick passes can be seen and clicked; the rest goes by time.
constexpr double kEqualPart = 0.6;

}  // namespace

PassStrip::PassStrip(QWidget* parent) : QWidget(parent), m_barRoom(kBarRoom) {
  setObjectName(QStringLiteral("view.passes.strip"));
  setAccessibleName(tr("Passes"));
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void PassStrip::setPasses(std::vector<Pass> passes) {
  m_passes = std::move(passes);
  m_first = m_last = m_anchor = m_divergence = -1;
  setAccessibleDescription(summary());
  update();
}

void PassStrip::setLow(bool low) {
  m_barRoom = low ? kLowBarRoom : kBarRoom;
  updateGeometry();
  update();
}

void PassStrip::setCosts(const std::vector<Cost>& costs) {
  for (size_t i = 0; i < m_passes.size() && i < costs.size(); ++i) m_passes[i].cost = costs[i];
  update();
}

void PassStrip::select(int first, int last) {
  const int end = static_cast<int>(m_passes.size()) - 1;
  m_first = std::min(first, end), m_last = std::min(last, end);
  if (m_anchor < m_first || m_anchor > m_last) m_anchor = m_first;
  setAccessibleDescription(m_last >= 0 ? describe(m_last) : summary());
  update();
}

void PassStrip::setDivergence(int pass) {
  m_divergence = pass;
  update();
}

QSize PassStrip::sizeHint() const { return {420, m_barRoom + 2 * fontMetrics().height() + 14}; }

std::vector<double> PassStrip::borders() const {
  double total = 0;
  for (const Pass& p : m_passes) total += p.seconds;
  const double equal = (total > 0 ? kEqualPart : 1.0) * width() / static_cast<double>(std::max<size_t>(m_passes.size(), 1));
  std::vector<double> x{0};
  for (const Pass& p : m_passes) x.push_back(x.back() + equal + (total > 0 ? (1 - kEqualPart) * width() * p.seconds / total : 0));
  return x;
}

int PassStrip::passAt(double x) const {
  const std::vector<double> at = borders();
  const auto it = std::upper_bound(at.begin(), at.end(), x);
  return std::clamp(static_cast<int>(it - at.begin()) - 1, m_passes.empty() ? -1 : 0, static_cast<int>(m_passes.size()) - 1);
}

void PassStrip::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = themeOf(this);
  p.fillRect(rect(), theme.base);
  if (m_passes.empty()) return;
  const std::vector<double> x = borders();
  const int text = fontMetrics().height();
  const double ground = m_barRoom + 4;
  int most = 1;
  for (const Pass& pass : m_passes) most = std::max(most, pass.added + pass.removed);
  const auto height = [&](int lines) { return lines > 0 ? std::max(2.0, m_barRoom * std::sqrt(static_cast<double>(lines) / most)) : 0.0; };
  for (size_t i = 0; i < m_passes.size(); ++i) {
    const Pass& pass = m_passes[i];
    const int number = static_cast<int>(i);
    const QRectF cell(x[i], 0, x[i + 1] - x[i], this->height());
    const bool chosen = number >= m_first && number <= m_last;
    if (chosen) p.fillRect(cell, theme.currentBand);
    // Removed lines stand on added ones, in the colours and with the patterns of a difference.
    const double whole = height(pass.added + pass.removed), part = whole * pass.added / std::max(1, pass.added + pass.removed);
    const QRectF bar = cell.adjusted(3, 0, -3, 0);
    p.fillRect(QRectF(bar.left(), ground - part, bar.width(), part), theme.categorical(0));
    p.fillRect(QRectF(bar.left(), ground - whole, bar.width(), whole - part), QBrush(theme.categorical(5), Qt::Dense4Pattern));
    p.setPen(QPen(theme.edge, 1));
    p.drawLine(QPointF(bar.left(), ground), QPointF(bar.right(), ground));
    p.setPen(pass.changed || i == 0 ? theme.text : theme.mutedText);
    // With a delta what changed something, with an equals sign what did not.
    const QString sign = i == 0 ? QString(QChar(0x25B8)) : pass.changed ? QString(QChar(0x0394)) : QStringLiteral("=");
    p.drawText(QRectF(cell.left(), ground + 2, cell.width(), text), Qt::AlignCenter, sign);
    const QString name = fontMetrics().elidedText(pass.name, Qt::ElideRight, static_cast<int>(cell.width()) - 2);
    p.drawText(QRectF(cell.left(), ground + text + 2, cell.width(), text), Qt::AlignCenter, name.size() > 3 ? name : QString::number(number));
    if (chosen) {
      p.setPen(QPen(theme.accent, 2));
      p.drawLine(QPointF(cell.left() + 1, this->height() - 1), QPointF(cell.right() - 1, this->height() - 1));
    }
    // The sign alone where there is no room for more, and the interval where there is.
    double top = 0;
    const auto write = [&](const QString& words) {
      const double wide = fontMetrics().horizontalAdvance(words) + 4;
      if (words.isEmpty() || wide + 4 > cell.width() || top + text > ground) return;
      const QRectF place(cell.right() - wide - 2, top, wide, text);
      p.fillRect(place, theme.base);  // bars are as high
      p.setPen(theme.text);
      p.drawText(place, Qt::AlignCenter, words);
      top += text;
    };
    write(pass.cost.ratio);
    if (top == 0) write(pass.cost.ratio.left(1));
    write(pass.cost.interval);
    if (number == m_divergence) {
      p.setPen(QPen(theme.warning, 1.5, Qt::DashLine));
      p.drawLine(QPointF(cell.left() + 1, 0), QPointF(cell.left() + 1, this->height()));
      p.drawText(QRectF(cell.left() + 4, 0, cell.width(), text), Qt::AlignLeft | Qt::AlignTop, QString(QChar(0x2260)));
    }
  }
  if (hasFocus()) {
    p.setPen(QPen(theme.accent, 1));
    p.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void PassStrip::choose(int pass, bool extend) {
  if (m_passes.empty()) return;
  pass = std::clamp(pass, 0, static_cast<int>(m_passes.size()) - 1);
  if (!extend || m_anchor < 0) m_anchor = pass;
  const int first = std::min(m_anchor, pass), last = std::max(m_anchor, pass);
  if (first == m_first && last == m_last) return;
  select(first, last);
  Q_EMIT selected(first, last);
}

void PassStrip::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) choose(passAt(event->position().x()), event->modifiers() & Qt::ShiftModifier);
}

void PassStrip::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons() & Qt::LeftButton) choose(passAt(event->position().x()), true);
}

void PassStrip::keyPressEvent(QKeyEvent* event) {
  const bool extend = event->modifiers() & Qt::ShiftModifier;
  const int head = m_anchor == m_first ? m_last : m_first;  // the end that moves
  switch (event->key()) {
    case Qt::Key_Left:
      return choose((extend ? head : m_first) - 1, extend);
    case Qt::Key_Right:
      return choose((extend ? head : m_last) + 1, extend);
    case Qt::Key_Home:
      return choose(0, extend);
    case Qt::Key_End:
      return choose(static_cast<int>(m_passes.size()) - 1, extend);
    default:
      QWidget::keyPressEvent(event);
  }
}

bool PassStrip::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const int pass = passAt(help->pos().x());
    QToolTip::showText(help->globalPos(), pass < 0 ? QString() : describe(pass), this);
    return true;
  }
  return QWidget::event(event);
}

QString PassStrip::describe(int pass) const {
  const Pass& p = m_passes[static_cast<size_t>(pass)];
  if (pass == 0) return tr("%1: what the passes begin with").arg(p.name);
  QString text = p.changed ? tr("%1. %2: +%3 −%4 lines, %5").arg(pass).arg(p.name).arg(p.added).arg(p.removed).arg(secondsText(p.seconds))
                           : tr("%1. %2: nothing changed, %3").arg(pass).arg(p.name, secondsText(p.seconds));
  if (!p.needed.isEmpty()) text += tr("\nCannot be left out: %1").arg(p.needed);
  if (!p.cost.help.isEmpty()) text += QLatin1Char('\n') + p.cost.help;
  return text;
}

QString PassStrip::summary() const {
  int changed = 0;
  double seconds = 0;
  for (const Pass& p : m_passes) changed += p.changed ? 1 : 0, seconds += p.seconds;
  return m_passes.empty() ? tr("No passes") : tr("%1 passes, %2 of them changed something, %3").arg(m_passes.size() - 1).arg(changed).arg(secondsText(seconds));
}

Table PassStrip::table() const {
  Table table;
  table.columns = {tr("number"), tr("pass"), tr("seconds"), tr("changed"), tr("lines added"), tr("lines removed"), tr("left out"), tr("cannot be left out")};
  for (size_t i = 0; i < m_passes.size(); ++i) {
    const Pass& p = m_passes[i];
    table.rows.push_back({QString::number(i), p.name, QString::number(p.seconds, 'g', 17), p.changed ? tr("yes") : tr("no"), QString::number(p.added),
                          QString::number(p.removed), p.cost.help, p.needed});
  }
  return table;
}

}  // namespace tw::widgets
