// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/importance_view.h"

#include <QPainter>
#include <algorithm>

#include "widgets/common/format.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {

ImportanceView::ImportanceView(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("view.space.importance"));
  setAccessibleName(tr("Importance of knobs"));
  setFocusPolicy(Qt::StrongFocus);
}

void ImportanceView::setShares(std::vector<std::pair<QString, double>> shares) {
  std::vector<Share> all;
  for (auto& [name, share] : shares) all.push_back({std::move(name), share, share, share});
  setShares(all, tr("Share of the variance of log(time) that a knob explains by itself: (between groups − (groups − 1) × within groups) ÷ total, over successful trials. "
                    "Knobs that matter only together have small shares."));
}

void ImportanceView::setShares(const std::vector<Share>& shares, const QString& note) {
  m_shares = shares, m_note = note;
  m_hasIntervals = std::any_of(shares.begin(), shares.end(), [](const Share& s) { return s.low < s.high; });
  std::stable_sort(m_shares.begin(), m_shares.end(), [](const Share& a, const Share& b) { return a.share > b.share; });
  setAccessibleDescription(summary());
  setMinimumHeight(std::min(400, 70 + (fontMetrics().height() + 8) * static_cast<int>(m_shares.size())));
  updateGeometry();
  update();
}

void ImportanceView::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = themeOf(this);
  p.fillRect(rect(), theme.base);
  const QFontMetrics metrics = p.fontMetrics();
  int left = 0;
  for (const Share& s : m_shares) left = std::max(left, metrics.horizontalAdvance(s.name));
  left = std::min(left, width() / 2) + 14;
  const int line = metrics.height() + 8, number = metrics.horizontalAdvance(QStringLiteral("100.0 %")) + 8;
  const int room = std::max(10, width() - left - number - 10);
  int y = 8;
  for (const auto& [name, share, low, high] : m_shares) {
    p.setPen(theme.text);
    p.drawText(QRect(6, y, left - 12, line), Qt::AlignRight | Qt::AlignVCenter, metrics.elidedText(name, Qt::ElideMiddle, left - 12));
    const QRectF bar(left, y + 4, room * share, line - 8);
    p.fillRect(QRectF(left, y + 4, room, line - 8), theme.raised);
    p.fillRect(bar, theme.series[0]);
    if (low < high) {  // the interval as a line with ends
      const double middle = y + line / 2.0;
      p.setPen(QPen(theme.text, 1.4));
      p.drawLine(QPointF(left + room * low, middle), QPointF(left + room * high, middle));
      for (const double end : {low, high}) p.drawLine(QPointF(left + room * end, middle - 4), QPointF(left + room * end, middle + 4));
    }
    p.drawText(QRect(left + room + 4, y, number, line), Qt::AlignLeft | Qt::AlignVCenter, percentText(share) + QStringLiteral(" %"));
    y += line;
  }
  p.setPen(theme.mutedText);
  p.drawText(QRect(8, y + 8, width() - 16, std::max(0, height() - y - 8)), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, m_note);
}

QString ImportanceView::summary() const {
  if (m_shares.empty()) return tr("Too few successful trials");
  return tr("%1 explains %2 % of the spread of times").arg(m_shares[0].name, percentText(m_shares[0].share));
}

Table ImportanceView::table() const {
  Table table;
  table.columns = {tr("knob"), tr("share of the variance of log(time)")};
  if (m_hasIntervals) table.columns << tr("low") << tr("high");
  const auto number = [](double v) { return QString::number(v, 'g', 6); };
  for (const auto& [name, share, low, high] : m_shares) {
    table.rows.push_back({name, number(share)});
    if (m_hasIntervals) table.rows.back() << number(low) << number(high);
  }
  return table;
}

}  // namespace tw::widgets
