// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/footprint_chart.h"

#include <QLocale>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <vector>

#include "widgets/common/format.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {

constexpr Qt::BrushStyle kBarPatterns[] = {Qt::SolidPattern, Qt::Dense3Pattern, Qt::BDiagPattern, Qt::DiagCrossPattern,
                                           Qt::FDiagPattern, Qt::Dense5Pattern, Qt::HorPattern};

}  // namespace

FootprintChart::FootprintChart(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("view.why.footprint"));
  setAccessibleName(tr("Footprint of the loops"));
  setFocusPolicy(Qt::StrongFocus);
}

void FootprintChart::setLoops(std::vector<Loop> loops, std::vector<Capacity> capacities) {
  m_loops = std::move(loops);
  m_capacities = std::move(capacities);
  m_arrays.clear();
  for (const Loop& l : m_loops) {
    for (const auto& [array, bytes] : l.arrays) {
      if (!m_arrays.contains(array)) m_arrays << array;
    }
  }
  setAccessibleDescription(summary());
  setMinimumHeight(sizeHint().height());
  updateGeometry();
  update();
}

QSize FootprintChart::sizeHint() const {
  const int line = fontMetrics().height() + 6;
  return {360, line * (static_cast<int>(m_loops.size()) + 2) + 20};
}

void FootprintChart::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = themeOf(this);
  p.fillRect(rect(), theme.base);
  if (m_loops.empty()) return;
  const QFontMetrics metrics = p.fontMetrics();
  const int line = metrics.height() + 6;
  int left = 0;
  for (const Loop& l : m_loops) left = std::max(left, metrics.horizontalAdvance(l.name));
  left = std::min(left, width() / 3) + 12;
  const int size = metrics.horizontalAdvance(QStringLiteral("9,999.9 MB")) + 8;
  const double room = std::max(20, width() - left - size - 8);
  double most = 64, least = 64;
  for (const Loop& l : m_loops) most = std::max(most, l.bytes);
  for (const Capacity& c : m_capacities) most = std::max(most, c.bytes);
  most *= 1.5, least /= 2;
  const auto at = [&](double bytes) { return left + room * std::clamp(std::log(std::max(bytes, least) / least) / std::log(most / least), 0.0, 1.0); };
  const int top = line + 4;
  int y = top;
  for (const Loop& l : m_loops) {
    p.setPen(theme.text);
    p.drawText(QRect(4, y, left - 10, line), Qt::AlignRight | Qt::AlignVCenter, metrics.elidedText(l.name, Qt::ElideMiddle, left - 10));
    // The bar's length is the total on the logarithmic scale; it is divided in proportion.
    double x = left;
    const double whole = at(l.bytes) - left;
    for (const auto& [array, bytes] : l.arrays) {
      const double part = l.bytes > 0 ? whole * bytes / l.bytes : 0;
      const int index = static_cast<int>(m_arrays.indexOf(array));
      const QRectF bar(x, y + 3, part, line - 6);
      p.fillRect(bar, theme.raised);
      p.fillRect(bar, QBrush(theme.categorical(index), kBarPatterns[static_cast<size_t>(index) % std::size(kBarPatterns)]));
      x += part;
    }
    y += line;
  }
  const int bottom = y;
  // Names of capacities that lie close together are moved apart, and go without their sizes where there is no room for all of them.
  constexpr double kGap = 10;
  QStringList texts;
  const auto wide = [&] {
    double all = -kGap;
    for (const QString& text : texts) all += metrics.horizontalAdvance(text) + kGap;
    return all > width() - 8;
  };
  for (const Capacity& c : m_capacities) texts << QStringLiteral("%1 %2").arg(c.name, bytesText(c.bytes));
  if (wide()) {
    for (size_t i = 0; i < m_capacities.size(); ++i) texts[static_cast<qsizetype>(i)] = m_capacities[i].name;
  }
  std::vector<double> places;
  double free = 4;
  for (size_t i = 0; i < m_capacities.size(); ++i) {
    const double w = metrics.horizontalAdvance(texts[static_cast<qsizetype>(i)]);
    places.push_back(std::max(free, at(m_capacities[i].bytes) - w / 2));
    free = places.back() + w + kGap;
  }
  double end = width() - 4;
  for (size_t i = places.size(); i-- > 0;) {
    const double w = metrics.horizontalAdvance(texts[static_cast<qsizetype>(i)]);
    places[i] = std::min(places[i], end - w);
    end = places[i] - kGap;
    const double x = at(m_capacities[i].bytes);
    p.setPen(QPen(theme.accent, 1.4, Qt::DashLine));
    p.drawLine(QPointF(x, top - 2), QPointF(x, bottom));
    p.setPen(theme.accent);
    p.drawText(QRectF(places[i], 2, w + 2, line), Qt::AlignLeft | Qt::AlignVCenter, texts[static_cast<qsizetype>(i)]);
  }
  // Over the lines, which would cross them out.
  p.setPen(theme.text);
  for (size_t i = 0; i < m_loops.size(); ++i) {
    const QString text = bytesText(m_loops[i].bytes);
    const QRectF place(at(m_loops[i].bytes) + 4, top + static_cast<int>(i) * line, metrics.horizontalAdvance(text) + 2, line);
    p.fillRect(place.adjusted(-2, 2, 1, -2), theme.base);
    p.drawText(place, Qt::AlignLeft | Qt::AlignVCenter, text);
  }
  double x = left;
  for (const QString& array : m_arrays) {
    const int index = static_cast<int>(m_arrays.indexOf(array));
    const double w = metrics.horizontalAdvance(array);
    if (x + 16 + w > width() - 4) break;
    p.fillRect(QRectF(x, y + 6, 12, line - 8), theme.raised);
    p.fillRect(QRectF(x, y + 6, 12, line - 8), QBrush(theme.categorical(index), kBarPatterns[static_cast<size_t>(index) % std::size(kBarPatterns)]));
    p.setPen(theme.text);
    p.drawText(QRectF(x + 16, y + 2, w + 2, line), Qt::AlignLeft | Qt::AlignVCenter, array);
    x += w + 30;
  }
}

QString FootprintChart::summary() const {
  if (m_loops.empty()) return tr("No loops");
  return tr("One run of loop %1 touches %2, of loop %3 %4")
      .arg(m_loops.front().name, bytesText(m_loops.front().bytes), m_loops.back().name, bytesText(m_loops.back().bytes));
}

Table FootprintChart::table() const {
  Table table;
  table.columns = {tr("loop"), tr("bytes")};
  for (const QString& array : m_arrays) table.columns << tr("bytes of %1").arg(array);
  for (const Loop& l : m_loops) {
    QStringList row{l.name, QString::number(l.bytes, 'f', 0)};
    for (const QString& array : m_arrays) row << (l.arrays.contains(array) ? QString::number(l.arrays.at(array), 'f', 0) : QStringLiteral("0"));
    table.rows.push_back(row);
  }
  for (const Capacity& c : m_capacities) {
    QStringList row{c.name, QString::number(c.bytes, 'f', 0)};
    row.resize(table.columns.size());
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace tw::widgets
