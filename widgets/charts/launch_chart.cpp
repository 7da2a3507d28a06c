// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/launch_chart.h"

#include <QPainter>
#include <algorithm>

#include "widgets/common/format.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {

LaunchChart::LaunchChart(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("view.why.launches"));
  setAccessibleName(tr("Simulated time of the launches by part"));
  setFocusPolicy(Qt::StrongFocus);
}

void LaunchChart::setLaunches(std::vector<WhyLaunch> launches) {
  m_launches = std::move(launches);
  setAccessibleDescription(summary());
  setMinimumHeight(sizeHint().height());
  updateGeometry();
  update();
}

QSize LaunchChart::sizeHint() const {
  int lines = 0;
  for (const WhyLaunch& l : m_launches) lines += static_cast<int>(l.parts.size()) + 2;
  return {360, lineHeight() * lines + 10 * static_cast<int>(m_launches.size())};
}

void LaunchChart::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = themeOf(this);
  p.fillRect(rect(), theme.base);
  const QFontMetrics metrics = p.fontMetrics();
  const int line = lineHeight();
  const QString warps = tr("warps in use");
  int left = metrics.horizontalAdvance(warps), right = metrics.horizontalAdvance(QStringLiteral("999.9 µs"));
  double most = 0;
  for (const WhyLaunch& l : m_launches) {
    right = std::max(right, metrics.horizontalAdvance(tr("%1 % (%2)").arg(percentText(l.occupancy), l.limit)));
    for (const auto& [name, seconds] : l.parts) {
      left = std::max(left, metrics.horizontalAdvance(name));
      most = std::max(most, seconds);
    }
  }
  left = std::min(left, width() / 3) + 12;
  const double room = std::max(20, width() - left - right - 12);
  int y = 2, number = 0;
  const auto bar = [&](const QString& name, double share, const QColor& color, Qt::BrushStyle pattern, const QString& text, bool strong) {
    QFont font = this->font();
    font.setBold(strong);
    p.setFont(font);
    p.setPen(theme.text);
    p.drawText(QRect(4, y, left - 10, line), Qt::AlignRight | Qt::AlignVCenter, metrics.elidedText(name, Qt::ElideRight, left - 10));
    const QRectF whole(left, y + 3, room, line - 6), part(left, y + 3, room * std::clamp(share, 0.0, 1.0), line - 6);
    p.fillRect(whole, theme.raised);
    p.fillRect(part, QBrush(color, pattern));
    p.drawText(QRectF(left + room + 6, y, right + 4, line), Qt::AlignLeft | Qt::AlignVCenter, text);
    p.setFont(this->font());
    y += line;
  };
  for (const WhyLaunch& l : m_launches) {
    p.setPen(theme.text);
    const QString title = tr("Launch %1: %2 by the formula").arg(++number).arg(secondsText(l.seconds));
    p.drawText(QRect(8, y, width() - 12, line), Qt::AlignLeft | Qt::AlignVCenter, title);
    y += line;
    for (const auto& [name, seconds] : l.parts) {
      const bool longest = name == l.limiter;
      bar(name, most > 0 ? seconds / most : 0, longest ? theme.accent : theme.categorical(0), longest ? Qt::SolidPattern : Qt::Dense4Pattern, secondsText(seconds),
          longest);
    }
    bar(warps, l.occupancy, theme.categorical(2), Qt::BDiagPattern, tr("%1 % (%2)").arg(percentText(l.occupancy), l.limit), false);
    y += 10;
  }
}

QString LaunchChart::summary() const {
  QStringList sentences;
  int number = 0;
  for (const WhyLaunch& l : m_launches)
    sentences << tr("Launch %1 takes %2 by the formula, %3 most of it; %4 % of a multiprocessor's warps are in use")
                     .arg(++number)
                     .arg(secondsText(l.seconds), l.limiter, percentText(l.occupancy));
  return sentences.isEmpty() ? tr("No launches") : sentences.join(QStringLiteral(". "));
}

Table LaunchChart::table() const {
  Table table;
  table.columns = {tr("launch"), tr("blocks"), tr("threads of a block"), tr("registers of a thread"), tr("spilled registers"), tr("shared bytes of a block"),
                   tr("blocks on a multiprocessor"), tr("part of the warps"), tr("limit"), tr("rounds"), tr("simulated s")};
  if (!m_launches.empty())
    for (const auto& [name, seconds] : m_launches.front().parts) table.columns << tr("%1 s").arg(name);
  const auto number = [](double value) { return QString::number(value, 'g', 6); };
  for (size_t i = 0; i < m_launches.size(); ++i) {
    const WhyLaunch& l = m_launches[i];
    QStringList row{number(static_cast<double>(i + 1)), QString::number(l.blocks), QString::number(l.threads), QString::number(l.registers),
                    QString::number(l.spilledRegisters), QString::number(l.sharedBytes), QString::number(l.residentBlocks), number(l.occupancy), l.limit,
                    number(l.waves), number(l.seconds)};
    for (const auto& [name, seconds] : l.parts) row << number(seconds);
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace tw::widgets
