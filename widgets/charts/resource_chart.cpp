// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/resource_chart.h"

#include <qcustomplot.h>

#include <QKeyEvent>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "engine/base/text.h"
#include "widgets/charts/plot_theme.h"
#include "widgets/charts/series_style.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {

constexpr double kNearPoint = 12;  ///< pixels
constexpr int kLeastChart = 230;   ///< of height
constexpr double kGiga = 1e9;

QString rateText(double flops) { return QString::fromStdString(si_text(flops, "FLOP/s")); }

}  // namespace

ResourceChart::ResourceChart(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)) {
  setFocusPolicy(Qt::StrongFocus);
  setMinimumHeight(kLeastChart);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_plot);
  m_plot->setFocusProxy(this);
  showLegendAbove(m_plot);
  letWheelPass(m_plot);
  connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
    setFocus(Qt::MouseFocusReason);
    choose(event->position());
  });
  connect(m_plot, &QCustomPlot::mouseMove, this, [this](QMouseEvent* event) { hover(event->pos()); });
  draw();
}

void ResourceChart::setCurves(ResourceCurves curves) {
  m_curves = std::move(curves);
  m_line = m_value = -1;
  setAccessibleName(tr("Speed over %1").arg(m_curves.resource));
  setAccessibleDescription(summary());
  draw();
}

void ResourceChart::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) draw();
}

std::pair<int, int> ResourceChart::pointNear(const QPointF& at, bool withTrial) const {
  std::pair<int, int> nearest{-1, -1};
  double least = kNearPoint;
  for (size_t l = 0; l < m_curves.lines.size(); ++l) {
    const ResourceCurves::Line& line = m_curves.lines[l];
    if (withTrial && !line.leadsToTrials) continue;
    for (size_t v = 0; v < line.middle.size(); ++v) {
      if (!(line.middle[v] > 0)) continue;
      const double d = std::hypot(m_plot->xAxis->coordToPixel(static_cast<double>(v)) - at.x(), m_plot->yAxis->coordToPixel(line.middle[v] / kGiga) - at.y());
      if (d < least) least = d, nearest = {static_cast<int>(l), static_cast<int>(v)};
    }
  }
  return nearest;
}

void ResourceChart::choose(const QPointF& at) {
  if (const auto [line, value] = pointNear(at, true); line >= 0) activate(line, value);
}

void ResourceChart::activate(int line, int value) {
  m_line = line, m_value = value;
  draw();
  Q_EMIT pointActivated(line, value);
}

void ResourceChart::hover(const QPoint& at) {
  const auto [l, v] = pointNear(at, false);
  if (l < 0) return QToolTip::hideText();
  const ResourceCurves::Line& line = m_curves.lines[static_cast<size_t>(l)];
  const auto place = static_cast<size_t>(v);
  QString text = tr("%1, %2 %3: %4").arg(line.name, m_curves.resource, m_curves.values[v], rateText(line.middle[place]));
  if (!line.low.empty()) text += tr(" (%1 to %2)").arg(rateText(line.low[place]), rateText(line.high[place]));
  if (line.leadsToTrials) text += QLatin1Char('\n') + tr("A click shows its trial.");
  QToolTip::showText(m_plot->mapToGlobal(at), text.toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>")), m_plot);
}

void ResourceChart::keyPressEvent(QKeyEvent* event) {
  const int by = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  const auto first = std::find_if(m_curves.lines.begin(), m_curves.lines.end(), [](const auto& line) { return line.leadsToTrials; });
  if (by == 0 || first == m_curves.lines.end()) return QWidget::keyPressEvent(event);
  const int line = m_line >= 0 ? m_line : static_cast<int>(first - m_curves.lines.begin());
  const std::vector<double>& speeds = m_curves.lines[static_cast<size_t>(line)].middle;
  for (int v = m_value < 0 ? (by > 0 ? 0 : static_cast<int>(speeds.size()) - 1) : m_value + by; v >= 0 && v < static_cast<int>(speeds.size()); v += by)
    if (speeds[static_cast<size_t>(v)] > 0) return activate(line, v);
}

void ResourceChart::draw() {
  const Theme& theme = themeOf(this);
  m_plot->setFont(font());
  m_plot->clearPlottables();
  m_plot->clearItems();
  applyPlotTheme(m_plot, theme);
  m_plot->legend->setBorderPen(Qt::NoPen);
  m_plot->xAxis->setLabel(m_curves.resource);
  m_plot->yAxis->setLabel(tr("GFLOP/s"));
  QSharedPointer<QCPAxisTickerText> ticks(new QCPAxisTickerText);
  for (int v = 0; v < static_cast<int>(m_curves.values.size()); ++v) ticks->addTick(v, m_curves.values[v]);
  ticks->setSubTickCount(0);
  m_plot->xAxis->setTicker(ticks);
  double highest = 0;
  for (size_t l = 0; l < m_curves.lines.size(); ++l) {
    const ResourceCurves::Line& line = m_curves.lines[l];
    const SeriesStyle style = seriesStyle(theme, static_cast<int>(l));
    QVector<double> x, y, low, high;
    for (size_t v = 0; v < line.middle.size(); ++v) {
      if (!(line.middle[v] > 0)) continue;
      x << static_cast<double>(v), y << line.middle[v] / kGiga;
      if (!line.low.empty()) low << line.low[v] / kGiga, high << line.high[v] / kGiga;
      highest = std::max({highest, y.back(), high.isEmpty() ? 0 : high.back()});
    }
    if (!low.isEmpty()) {
      QColor shade = style.color;
      shade.setAlpha(45);
      QCPGraph* lower = m_plot->addGraph();
      lower->setPen(Qt::NoPen);
      lower->setData(x, low, true);
      lower->removeFromLegend();
      QCPGraph* upper = m_plot->addGraph();
      upper->setPen(Qt::NoPen);
      upper->setBrush(shade);
      upper->setChannelFillGraph(lower);
      upper->setData(x, high, true);
      upper->removeFromLegend();
    }
    QCPGraph* graph = m_plot->addGraph();
    graph->setName(line.name);
    graph->setPen(QPen(style.color, 1.8, style.line));
    graph->setLineStyle(line.isPoints ? QCPGraph::lsNone : QCPGraph::lsLine);
    if (line.isPoints || line.leadsToTrials)
      graph->setScatterStyle(QCPScatterStyle(static_cast<QCPScatterStyle::ScatterShape>(style.marker), QPen(style.color, 1.4), line.isPoints ? QBrush(Qt::NoBrush) : QBrush(style.color), line.isPoints ? 9 : 6));
    graph->setData(x, y, true);
  }
  if (m_line >= 0) {
    QCPGraph* chosen = m_plot->addGraph();
    chosen->setName(tr("selected"));
    chosen->setLineStyle(QCPGraph::lsNone);
    chosen->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(theme.accent, 2), Qt::NoBrush, 13));
    chosen->addData(m_value, m_curves.lines[static_cast<size_t>(m_line)].middle[static_cast<size_t>(m_value)] / kGiga);
  }
  m_plot->xAxis->setRange(-0.3, std::max<double>(1, static_cast<double>(m_curves.values.size()) - 1) + 0.3);
  m_plot->yAxis->setRange(0, highest > 0 ? 1.15 * highest : 1);
  int below = 0;  // names of marks stand below each other, as lines may be close
  for (const ResourceCurves::Mark& mark : m_curves.marks) {
    auto* line = new QCPItemStraightLine(m_plot);
    line->setPen(QPen(theme.mutedText, 1.2, Qt::DashLine));
    line->point1->setCoords(mark.at, 0);
    line->point2->setCoords(mark.at, 1);
    auto* text = new QCPItemText(m_plot);
    text->setFont(m_plot->font());
    text->setColor(theme.mutedText);
    text->setText(QString(below++, QLatin1Char('\n')) + mark.text);
    const bool isRight = mark.at > 0.6 * static_cast<double>(m_curves.values.size() - 1);
    text->setPositionAlignment(Qt::AlignTop | (isRight ? Qt::AlignRight : Qt::AlignLeft));
    text->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    text->position->setCoords(mark.at, 0.01);
    text->setPadding(QMargins(4, 0, 4, 0));
  }
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

QString ResourceChart::summary() const {
  QStringList parts;
  for (const ResourceCurves::Line& line : m_curves.lines) {
    const auto best = std::max_element(line.middle.begin(), line.middle.end());
    if (best != line.middle.end() && *best > 0) parts << tr("%1: at most %2 at %3").arg(line.name, rateText(*best), m_curves.values[best - line.middle.begin()]);
  }
  for (const ResourceCurves::Mark& mark : m_curves.marks) parts << mark.text;
  return parts.isEmpty() ? tr("No speeds over %1").arg(m_curves.resource) : parts.join(QStringLiteral("; "));
}

Table ResourceChart::table() const {
  Table table;
  table.columns << m_curves.resource;
  for (const ResourceCurves::Line& line : m_curves.lines) {
    table.columns << tr("%1 [FLOP/s]").arg(line.name);
    if (!line.low.empty()) table.columns << tr("%1, low").arg(line.name) << tr("%1, high").arg(line.name);
  }
  const auto number = [](double v) { return v > 0 ? QString::number(v, 'g', 9) : QString(); };
  for (qsizetype v = 0; v < m_curves.values.size(); ++v) {
    QStringList row{m_curves.values[v]};
    const auto at = static_cast<size_t>(v);
    for (const ResourceCurves::Line& line : m_curves.lines) {
      row << number(line.middle[at]);
      if (!line.low.empty()) row << number(line.low[at]) << number(line.high[at]);
    }
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace tw::widgets
