// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/descent_chart.h"

#include <qcustomplot.h>

#include <QHBoxLayout>
#include <QKeyEvent>
#include <algorithm>
#include <cmath>

#include "widgets/charts/plot_theme.h"
#include "widgets/charts/series_style.h"
#include "widgets/common/format.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {

constexpr double kReachPixels = 14;
constexpr double kSideRoom = 0.4;  ///< of an exponent, beside the first and the last

/// How far a way goes along a variable.
double pathLength(const std::vector<std::vector<double>>& way, size_t variable) {
  double sum = 0;
  for (size_t t = 1; t < way.size(); ++t) sum += std::abs(way[t][variable] - way[t - 1][variable]);
  return sum;
}

}  // namespace

DescentChart::DescentChart(QWidget* parent) : QWidget(parent), m_ways(new QCustomPlot(this)), m_objective(new QCustomPlot(this)) {
  setObjectName(QStringLiteral("view.descent.chart"));
  setAccessibleName(tr("Ways of seeds downhill"));
  setFocusPolicy(Qt::StrongFocus);
  auto* box = new QHBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  for (QCustomPlot* plot : {m_ways, m_objective}) {
    plot->setFocusProxy(this);
    plot->setMinimumWidth(120);
    showLegendAbove(plot);
  }
  box->addWidget(m_ways, 3);
  box->addWidget(m_objective, 2);
  m_objective->xAxis->setLabel(tr("Step"));
  m_objective->yAxis->setLabel(tr("Predicted (mean score)"));
  m_objective->yAxis2->setLabel(tr("Exceeded limits (mean penalty)"));
  connect(m_ways, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
    setFocus(Qt::MouseFocusReason);
    int nearest = -1;
    double least = kReachPixels;
    for (size_t i = 0; i < m_descent.chosen.size(); ++i) {
      const auto& at = m_descent.chosen[i].at;
      const double d = std::hypot(m_ways->xAxis->coordToPixel(at[static_cast<size_t>(m_x)]) - event->position().x(),
                                  m_ways->yAxis->coordToPixel(at[static_cast<size_t>(m_y)]) - event->position().y());
      if (d < least) least = d, nearest = static_cast<int>(i);
    }
    if (nearest >= 0) choose(nearest);
  });
  draw();
}

void DescentChart::setDescent(Descent descent) {
  m_descent = std::move(descent);
  m_borders = {};
  m_chosen = -1;
  const int last = std::max(0, static_cast<int>(m_descent.variables.size()) - 1);
  m_x = std::clamp(m_x, 0, last), m_y = std::clamp(m_y, 0, last);
  draw();
}

void DescentChart::setAxes(int x, int y) {
  m_x = x, m_y = y;
  m_borders = {};
  draw();
}

void DescentChart::setBorders(DescentBorders borders) {
  m_borders = std::move(borders);
  draw();
}

void DescentChart::setChosen(int candidate) {
  m_chosen = candidate < static_cast<int>(m_descent.chosen.size()) ? candidate : -1;
  draw();
}

void DescentChart::choose(int candidate) {
  setChosen(candidate);
  if (m_chosen >= 0) Q_EMIT candidateActivated(m_chosen);
}

std::pair<int, int> DescentChart::widestAxes() const {
  std::vector<double> sums(static_cast<size_t>(m_descent.variables.size()), 0);
  for (const auto& [seed, way] : m_descent.ways)
    for (size_t v = 0; v < sums.size(); ++v) sums[v] += pathLength(way, v);
  std::vector<int> order(sums.size());
  for (size_t v = 0; v < order.size(); ++v) order[v] = static_cast<int>(v);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return sums[static_cast<size_t>(a)] > sums[static_cast<size_t>(b)]; });
  if (order.empty()) return {0, 0};
  return {order[0], order.size() > 1 ? order[1] : order[0]};
}

void DescentChart::draw() {
  const Theme& theme = themeOf(this);
  for (QCustomPlot* plot : {m_ways, m_objective}) {
    plot->setFont(font());
    plot->clearPlottables();
    plot->clearItems();
    applyPlotTheme(plot, theme);
    plot->legend->setBorderPen(Qt::NoPen);
  }
  if (!isEmpty()) {
    drawWays();
    drawObjective();
  }
  setAccessibleDescription(summary());
  for (QCustomPlot* plot : {m_ways, m_objective}) plot->replot(QCustomPlot::rpQueuedReplot);
}

void DescentChart::drawWays() {
  const Theme& theme = themeOf(this);
  const auto x = static_cast<size_t>(m_x), y = static_cast<size_t>(m_y);
  m_ways->xAxis->setLabel(tr("%1 (exponent)").arg(m_descent.variables[m_x]));
  m_ways->yAxis->setLabel(tr("%1 (exponent)").arg(m_descent.variables[m_y]));
  m_ways->xAxis->setRange(-kSideRoom, m_descent.most[x] + kSideRoom);
  m_ways->yAxis->setRange(-kSideRoom, m_descent.most[y] + kSideRoom);
  for (QCPAxis* axis : {m_ways->xAxis, m_ways->yAxis}) {
    auto ticks = QSharedPointer<QCPAxisTickerFixed>::create();
    ticks->setTickStep(1);
    ticks->setScaleStrategy(QCPAxisTickerFixed::ssMultiples);
    axis->setTicker(ticks);
  }
  if (m_borders.columns > 1 && m_borders.rows > 1) {
    auto* map = new QCPColorMap(m_ways->xAxis, m_ways->yAxis);
    map->data()->setSize(m_borders.columns, m_borders.rows);
    map->data()->setRange({0, static_cast<double>(m_descent.most[x])}, {0, static_cast<double>(m_descent.most[y])});
    for (int r = 0; r < m_borders.rows; ++r)
      for (int c = 0; c < m_borders.columns; ++c)
        map->data()->setCell(c, r, m_borders.excess[static_cast<size_t>(r * m_borders.columns + c)] > 1e-9 ? 1 : 0);
    QCPColorGradient shade;
    shade.clearColorStops();
    shade.setColorStopAt(0, theme.base);
    shade.setColorStopAt(1, theme.errorBanner);
    map->setGradient(shade);
    map->setDataRange({0, 1});
    map->setInterpolate(false);
    map->setTightBoundary(false);
    map->setName(tr("exceeds a limit"));
    map->removeFromLegend();
    QCPGraph* sample = m_ways->addGraph();  // a colour map's own entry in a legend is as large as a picture
    sample->setName(tr("beyond a limit"));
    sample->setLineStyle(QCPGraph::lsNone);
    sample->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssSquare, theme.errorBanner, theme.errorBanner, 10));
  }
  int style = 0;
  for (const auto& [seed, way] : m_descent.ways) {
    const SeriesStyle s = seriesStyle(theme, style++);
    auto* line = new QCPCurve(m_ways->xAxis, m_ways->yAxis);
    line->setPen(QPen(s.color, 1.3, s.line));
    for (size_t t = 0; t < way.size(); ++t) line->addData(static_cast<double>(t), way[t][x], way[t][y]);
    line->removeFromLegend();
    if (way.empty()) continue;
    QCPGraph* begin = m_ways->addGraph();
    begin->setLineStyle(QCPGraph::lsNone);
    begin->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(s.color, 1.4), theme.base, 8));
    begin->addData(way.front()[x], way.front()[y]);
    begin->setName(tr("seeds"));
    if (style > 1) begin->removeFromLegend();
  }
  QCPGraph* chosen = m_ways->addGraph();
  chosen->setName(tr("rounded and measured"));
  chosen->setLineStyle(QCPGraph::lsNone);
  chosen->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssSquare, QPen(theme.text, 1.4), theme.base, 8));
  for (const Descent::Chosen& c : m_descent.chosen) chosen->addData(c.at[x], c.at[y]);
  if (m_chosen < 0) return;
  const auto& c = m_descent.chosen[static_cast<size_t>(m_chosen)];
  QCPGraph* here = m_ways->addGraph();
  here->setName(tr("selected"));
  here->setLineStyle(QCPGraph::lsNone);
  here->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, theme.accent, theme.accent, 11));
  here->addData(c.at[x], c.at[y]);
}

void DescentChart::drawObjective() {
  const Theme& theme = themeOf(this);
  const auto curve = [&](const std::vector<double>& values, QCPAxis* axis, const QString& name, int style) {
    const SeriesStyle s = seriesStyle(theme, style);
    QCPGraph* graph = m_objective->addGraph(m_objective->xAxis, axis);
    graph->setName(name);
    graph->setPen(QPen(s.color, 1.8, s.line));
    double low = 0, high = 0;
    for (size_t t = 0; t < values.size(); ++t) {
      graph->addData(static_cast<double>(t), values[t]);
      low = t == 0 ? values[t] : std::min(low, values[t]), high = t == 0 ? values[t] : std::max(high, values[t]);
    }
    const double room = high > low ? 0.06 * (high - low) : std::max(1e-3, 0.1 * std::abs(high));
    axis->setRange(low - room, high + room);
  };
  m_objective->yAxis2->setVisible(true);
  m_objective->xAxis->setRange(-0.02 * m_descent.steps, std::max(1.0, 1.02 * m_descent.steps));
  curve(m_descent.score, m_objective->yAxis, tr("predicted score"), 0);
  curve(m_descent.penalty, m_objective->yAxis2, tr("penalty"), 1);
  if (m_chosen < 0) return;
  auto* step = new QCPItemStraightLine(m_objective);
  step->setPen(QPen(theme.accent, 1, Qt::DashLine));
  const int at = m_descent.chosen[static_cast<size_t>(m_chosen)].step;
  step->point1->setCoords(at, 0);
  step->point2->setCoords(at, 1);
}

void DescentChart::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) draw();
}

void DescentChart::keyPressEvent(QKeyEvent* event) {
  const int count = static_cast<int>(m_descent.chosen.size());
  if (count > 0 && event->key() == Qt::Key_Right) return choose(std::min(m_chosen + 1, count - 1));
  if (count > 0 && event->key() == Qt::Key_Left) return choose(std::max(m_chosen - 1, 0));
  QWidget::keyPressEvent(event);
}

QString DescentChart::summary() const {
  if (isEmpty()) return tr("No descent");
  QString text = tr("%n seed(s), ", nullptr, m_descent.seeds) + tr("%n step(s): ", nullptr, m_descent.steps) +
                 tr("of %1 points %2 differ when rounded, %3 keep the linear limits, %4 all, %5 were new, %6 were measured")
                     .arg(countText(m_descent.points), countText(m_descent.different), countText(m_descent.allowed), countText(m_descent.legal), countText(m_descent.fresh),
                          countText(static_cast<qint64>(m_descent.chosen.size())));
  if (m_descent.drawnAnew > 0) text += tr("; %n seed(s) drawn anew", nullptr, m_descent.drawnAnew);
  return text;
}

Table DescentChart::table() const {
  Table table;
  table.columns = QStringList{tr("seed"), tr("step"), tr("measured"), tr("score")} + m_descent.variables;
  const auto number = [](double v) { return QString::number(v, 'g', 10); };
  for (const auto& [seed, way] : m_descent.ways)
    for (size_t t = 0; t < way.size(); ++t) {
      QStringList row{QString::number(seed), QString::number(t), QString(), QString()};
      for (const double v : way[t]) row << number(v);
      table.rows.push_back(std::move(row));
    }
  for (const Descent::Chosen& c : m_descent.chosen) {
    QStringList row{QString::number(c.seed), QString::number(c.step), QStringLiteral("1"), number(c.score)};
    for (const int v : c.at) row << QString::number(v);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace tw::widgets
