// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/roofline_chart.h"

#include <qcustomplot.h>

#include <QEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "widgets/charts/plot_theme.h"
#include "widgets/charts/series_style.h"
#include "widgets/common/format.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {
constexpr int kAxesHeight = 180;
constexpr double kSameRoof = 0.05, kSamePlace = 0.005;  ///< relative differences that cannot be seen
}

RooflineChart::RooflineChart(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)) {
  setObjectName(QStringLiteral("view.why.roofline"));
  setAccessibleName(tr("Roofline"));
  setFocusPolicy(Qt::StrongFocus);
  setMinimumHeight(kAxesHeight);
  m_plot->setFocusProxy(this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_plot);
  for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
    axis->setScaleType(QCPAxis::stLogarithmic);
    axis->setTicker(QSharedPointer<QCPAxisTickerLog>(new QCPAxisTickerLog));
    axis->setNumberFormat(QStringLiteral("g"));
  }
  m_plot->xAxis->setLabel(tr("Arithmetic intensity [FLOP a byte]"));
  m_plot->yAxis->setLabel(tr("Speed [GFLOP/s]"));
  showLegendAbove(m_plot);
  letWheelPass(m_plot);
  // Where the legend takes many rows, the chart is higher: too little height would cut names.
  connect(m_plot, &QCustomPlot::afterLayout, this, [this] {
    const int least = kAxesHeight + m_plot->legend->minimumOuterSizeHint().height();
    if (least != minimumHeight()) setMinimumHeight(least);
  });
  draw();
}

void RooflineChart::setMachine(double peak, std::vector<Level> levels) {
  m_peak = peak;
  m_levels = std::move(levels);
  draw();
}

void RooflineChart::setPoints(std::vector<Point> points) {
  m_points = std::move(points);
  draw();
}

bool RooflineChart::isAtFirst(const Point& p) const {
  const auto near = [](double a, double b) { return std::abs(a - b) <= kSamePlace * std::max(a, b); };
  return near(p.flopsPerByte, m_points[0].flopsPerByte) && near(p.flopPerS, m_points[0].flopPerS);
}

void RooflineChart::draw() {
  const Theme& theme = themeOf(this);
  m_plot->setFont(font());
  m_plot->clearGraphs();
  m_plot->clearItems();
  applyPlotTheme(m_plot, theme);
  m_plot->legend->setBorderPen(Qt::NoPen);
  double left = 0.1, right = 100, low = 1;
  for (const Point& p : m_points) {
    left = std::min(left, p.flopsPerByte / 4), right = std::max(right, p.flopsPerByte * 4);
    if (p.flopPerS > 0) low = std::min(low, p.flopPerS / 1e9 / 3);
  }
  static constexpr Qt::PenStyle kLines[] = {Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine, Qt::DashDotDotLine};
  for (size_t i = 0; i < m_levels.size(); ++i) {
    const double ridge = m_peak / m_levels[i].bytesPerS;
    right = std::max(right, ridge * 4);
    // Roofs that lie on each other are one line with both names.
    if (i > 0 && std::abs(m_levels[i].bytesPerS / m_levels[i - 1].bytesPerS - 1) < kSameRoof) {
      QCPAbstractPlottable* above = m_plot->plottable();
      above->setName(tr("%1, %2 as fast").arg(above->name(), m_levels[i].name));
      continue;
    }
    QCPGraph* roof = m_plot->addGraph();
    roof->setName(m_levels[i].name);
    roof->setPen(QPen(theme.categorical(static_cast<int>(i)), 1.6, kLines[i % std::size(kLines)]));
    roof->addData(left, left * m_levels[i].bytesPerS / 1e9);
    roof->addData(ridge, m_peak / 1e9);
  }
  if (m_peak > 0) {
    QCPGraph* peak = m_plot->addGraph();
    peak->setName(tr("arithmetic"));
    peak->setPen(QPen(theme.text, 1.8));
    peak->addData(left, m_peak / 1e9);
    peak->addData(right, m_peak / 1e9);
  }
  for (size_t i = 0; i < m_points.size(); ++i) {
    const SeriesStyle style = seriesStyle(theme, static_cast<int>(i));
    if (i > 0 && isAtFirst(m_points[i])) {
      m_plot->plottable()->setName(tr("%1 and %2, at one place").arg(m_plot->plottable()->name(), m_points[i].name));
      continue;
    }
    QCPGraph* point = m_plot->addGraph();
    point->setName(m_points[i].name);
    point->setLineStyle(QCPGraph::lsNone);
    point->setScatterStyle(
        QCPScatterStyle(static_cast<QCPScatterStyle::ScatterShape>(style.marker), QPen(i == 0 ? theme.accent : style.color, 2), QBrush(theme.base), 11));
    point->addData(m_points[i].flopsPerByte, m_points[i].flopPerS / 1e9);
  }
  // From the first to each other: which way a change went.
  for (size_t i = 1; i < m_points.size(); ++i) {
    if (isAtFirst(m_points[i])) continue;
    auto* arrow = new QCPItemLine(m_plot);
    arrow->start->setCoords(m_points[i].flopsPerByte, m_points[i].flopPerS / 1e9);
    arrow->end->setCoords(m_points[0].flopsPerByte, m_points[0].flopPerS / 1e9);
    arrow->setHead(QCPLineEnding::esSpikeArrow);
    arrow->setPen(QPen(theme.mutedText, 1.2));
  }
  m_plot->xAxis->setRange(left, right);
  m_plot->yAxis->setRange(low, std::max(10.0, m_peak / 1e9 * 2));
  setAccessibleDescription(summary());
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void RooflineChart::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) draw();
}

QString RooflineChart::summary() const {
  if (m_points.empty() || m_peak <= 0) return tr("No kernel to place");
  return tr("%1: %2 GFLOP/s at %3 FLOP a byte, the peak is %4 GFLOP/s")
      .arg(m_points[0].name, numberText(m_points[0].flopPerS / 1e9, 3), numberText(m_points[0].flopsPerByte, 3), numberText(m_peak / 1e9, 3));
}

Table RooflineChart::table() const {
  Table table;
  table.columns = {tr("what"), tr("FLOP a byte"), tr("speed [GFLOP/s]"), tr("memory rate [GB/s]")};
  const auto number = [](double value) { return QString::number(value, 'g', 7); };
  table.rows.push_back({tr("arithmetic"), QString(), number(m_peak / 1e9), QString()});
  for (const Level& l : m_levels) table.rows.push_back({l.name, QString(), QString(), number(l.bytesPerS / 1e9)});
  for (const Point& p : m_points) table.rows.push_back({p.name, number(p.flopsPerByte), number(p.flopPerS / 1e9), QString()});
  return table;
}

}  // namespace tw::widgets
