// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/network_chart.h"

#include <qcustomplot.h>

#include <QKeyEvent>
#include <QResizeEvent>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "widgets/charts/plot_theme.h"
#include "widgets/charts/series_style.h"
#include "widgets/common/format.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {

constexpr double kMs = 1e3, kReachPixels = 12;
/// Times that are many times the least would flatten everything of interest.
constexpr double kMostTimesLeast = 6;
/// Above so many points a marker at each hides the line.
constexpr size_t kMarkers = 60;

}  // namespace

NetworkChart::NetworkChart(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)) {
  setObjectName(QStringLiteral("view.network.chart"));
  setAccessibleName(tr("Estimated time of the network"));
  setFocusPolicy(Qt::StrongFocus);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_plot);
  m_plot->setFocusProxy(this);
  m_plot->axisRect()->setupFullAxesBox();
  for (QCPAxis* axis : {m_plot->xAxis2, m_plot->yAxis2}) axis->setTickLabels(false), axis->setTicks(false);
  showLegendAbove(m_plot);
  m_target = m_plot->addGraph();
  m_selected = m_plot->addGraph();
  m_selected->setLineStyle(QCPGraph::lsNone);
  m_selected->removeFromLegend();
  connect(m_plot, &QCustomPlot::mouseMove, this, [this](QMouseEvent* e) { hover(e->pos()); });
  connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent* e) {
    setFocus(Qt::MouseFocusReason);
    const auto [line, point] = near(e->position());
    if (line < 0 || !m_lines[static_cast<size_t>(line)].focus) return;
    const auto& at = m_points[static_cast<size_t>(line)][static_cast<size_t>(point)];
    Q_EMIT roundActivated(m_lines[static_cast<size_t>(line)].rounds[static_cast<size_t>(at.round)].number);
  });
  draw();
}

void NetworkChart::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if (isLowPlot(event->oldSize().height()) != isLowPlot(height())) draw();
}

void NetworkChart::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) draw();
}

void NetworkChart::setLines(std::vector<Line> lines) {
  m_lines = std::move(lines);
  draw();
}

void NetworkChart::setX(NetworkX x) {
  m_x = x;
  draw();
}

void NetworkChart::setTarget(double seconds) {
  m_targetSeconds = seconds;
  draw();
}

void NetworkChart::setMeasured(double defaultSeconds, double tunedSeconds) {
  m_defaultSeconds = defaultSeconds, m_tunedSeconds = tunedSeconds;
  draw();
}

void NetworkChart::setTimes(TimeKind kind) {
  if (std::exchange(m_times, kind) != kind) draw();
}

void NetworkChart::setSelectedRound(int64_t number) {
  if (m_round == number) return;
  m_round = number;
  draw();
}

bool NetworkChart::isEmpty() const {
  return std::all_of(m_points.begin(), m_points.end(), [](const auto& points) { return points.empty(); });
}

const NetworkChart::Line* NetworkChart::focused() const {
  const auto found = std::find_if(m_lines.begin(), m_lines.end(), [](const Line& l) { return l.focus; });
  return found == m_lines.end() ? nullptr : &*found;
}

void NetworkChart::draw() {
  const Theme& theme = themeOf(this);
  m_plot->setFont(font());
  applyPlotTheme(m_plot, theme);
  m_plot->legend->setBorderPen(Qt::NoPen);
  for (QCPGraph* graph : m_graphs) m_plot->removeGraph(graph);
  m_graphs.clear();
  m_points.clear();
  m_selected->data()->clear();
  m_selected->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(theme.accent, 2.5), QBrush(Qt::NoBrush), 14));
  const auto add = [&](const SeriesStyle& style) {
    m_graphs.push_back(m_plot->addGraph());
    m_graphs.back()->setScatterStyle(QCPScatterStyle(static_cast<QCPScatterStyle::ScatterShape>(style.marker), QPen(style.color, 1.4), QBrush(theme.base), 7));
    return m_graphs.back();
  };
  for (const Line& line : m_lines) m_points.push_back(networkCurve(line.rounds, m_x));
  for (size_t l = 0; l < m_lines.size(); ++l) {
    const Line& line = m_lines[l];
    const SeriesStyle style = seriesStyle(theme, line.style);
    QCPGraph* graph = add(style);
    graph->setName(isLowPlot(height()) ? line.name : legend(l));
    graph->setLineStyle(QCPGraph::lsStepLeft);
    graph->setPen(QPen(style.color, line.focus ? 2.6 : 1.6, style.line));
    const bool marks = m_points[l].size() <= kMarkers;
    if (!marks) graph->setScatterStyle(QCPScatterStyle::ssNone);
    QVector<double> x, y;
    for (size_t p = 0; p < m_points[l].size(); ++p) {
      const NetworkPoint& point = m_points[l][p];
      // Of a step between marks none but its ends are seen, and every joint of a thick line costs.
      if (!marks && p > 0 && p + 1 < m_points[l].size() && point.seconds == m_points[l][p - 1].seconds) continue;
      x << point.x, y << point.seconds * kMs;
    }
    graph->setData(x, y, true);
    if (const records::Round* reached = m_targetSeconds > 0 ? firstWithin(line.rounds, m_targetSeconds) : nullptr) {
      QCPGraph* mark = add(style);
      mark->setLineStyle(QCPGraph::lsImpulse);
      mark->setPen(QPen(style.color, 1, Qt::DotLine));
      mark->removeFromLegend();
      mark->addData(networkX(*reached, m_x), m_targetSeconds * kMs);
    }
    if (!line.focus) continue;
    for (const records::Round& r : line.rounds)
      if (r.number == m_round && std::isfinite(r.network_s)) m_selected->addData(networkX(r, m_x), r.network_s * kMs);
  }
  for (const auto& [seconds, color, name] : {std::tuple(m_defaultSeconds, theme.mutedText, tr("Measured by default: %1")),
                                             std::tuple(m_tunedSeconds, theme.accent, tr("Measured with the best: %1"))}) {
    if (!(seconds > 0) || !std::isfinite(seconds) || isEmpty()) continue;
    QCPGraph* run = m_plot->addGraph();
    m_graphs.push_back(run);
    run->setName(name.arg(secondsText(seconds)));
    run->setPen(QPen(color, 1.6, Qt::DashDotLine));
    double far = 1;
    for (const auto& points : m_points)
      for (const NetworkPoint& p : points) far = std::max(far, p.x);
    run->setData({0, far * 1.02}, {seconds * kMs, seconds * kMs}, true);
  }
  m_target->setName(tr("Target %1").arg(secondsText(m_targetSeconds)));
  m_target->setPen(QPen(theme.mutedText, 1.4, Qt::DashLine));
  m_target->setVisible(m_targetSeconds > 0);
  if (m_targetSeconds > 0)
    m_target->addToLegend();
  else
    m_target->removeFromLegend();
  rescale();
  setAccessibleDescription(summary());
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void NetworkChart::rescale() {
  double far = 0, low = HUGE_VAL, high = 0;
  for (const auto& points : m_points) {
    for (const NetworkPoint& p : points) far = std::max(far, p.x), low = std::min(low, p.seconds * kMs), high = std::max(high, p.seconds * kMs);
  }
  high = std::min(high, kMostTimesLeast * low);
  for (const double run : {m_defaultSeconds, m_tunedSeconds})
    if (run > 0) low = std::min(low, run * kMs), high = std::max(high, run * kMs);
  m_target->data()->clear();
  if (m_targetSeconds > 0) {
    low = std::min(low, m_targetSeconds * kMs), high = std::max(high, m_targetSeconds * kMs);
    m_target->addData(0, m_targetSeconds * kMs);
    m_target->addData(std::max(far * 1.02, 1.0), m_targetSeconds * kMs);
  }
  m_plot->xAxis->setRange(0, std::max(m_x == NetworkX::trials ? 10.0 : 0.1, far * 1.02));
  const double room = high > low ? 0.1 * (high - low) : 0.1 * high;
  m_plot->yAxis->setRange(std::isfinite(low) ? std::max(0.0, low - room) : 0, high > 0 ? high + room : 1);
  m_plot->xAxis->setLabel(m_x == NetworkX::trials    ? tr("Trials of all tasks")
                          : m_x == NetworkX::elapsed ? tr("Time of the session, pauses left out [s]")
                                                     : tr("Time spent measuring [s]"));
  m_plot->yAxis->setLabel(withTimeKind(tr("Estimate [ms]"), m_times));
}

QString NetworkChart::place(const records::Round& round) const {
  if (m_x == NetworkX::trials) return tr("%1 trials").arg(countText(round.session_trials));
  return m_x == NetworkX::elapsed ? tr("%1 of the session").arg(secondsText(round.elapsed_s)) : tr("%1 of measuring").arg(secondsText(round.measured_s));
}

QString NetworkChart::legend(size_t line) const {
  const auto& points = m_points[line];
  QString text = m_lines[line].name;
  if (!points.empty()) text += QStringLiteral(": ") + secondsText(points.back().seconds);
  if (m_targetSeconds <= 0) return text;
  const records::Round* reached = firstWithin(m_lines[line].rounds, m_targetSeconds);
  return reached ? tr("%1, target after %2").arg(text, place(*reached)) : tr("%1, target not reached").arg(text);
}

QString NetworkChart::summary() const {
  const Line* line = focused() ? focused() : m_lines.empty() ? nullptr : &m_lines.front();
  if (!line) return tr("No session");
  const auto& points = m_points[static_cast<size_t>(line - m_lines.data())];
  if (points.empty()) return tr("%1: the network's time is not known yet").arg(line->name);
  const double last = points.back().seconds, byDefault = line->defaultSeconds;
  QString estimate = tr("%1: estimated %2 after %3 trials").arg(line->name, secondsText(last), countText(line->rounds[static_cast<size_t>(points.back().round)].session_trials));
  if (byDefault > 0)
    estimate = last < byDefault ? tr("%1, %2 % less than %3 by the default schedules").arg(estimate, percentText(1 - last / byDefault), secondsText(byDefault))
                                : tr("%1, not less than %2 by the default schedules").arg(estimate, secondsText(byDefault));
  return m_tunedSeconds > 0 ? tr("%1; measured %2 instead of %3").arg(estimate, secondsText(m_tunedSeconds), secondsText(m_defaultSeconds)) : estimate;
}

std::pair<int, int> NetworkChart::near(const QPointF& pixel) const {
  std::pair<int, int> found(-1, -1);
  double least = kReachPixels;
  for (size_t l = 0; l < m_points.size(); ++l) {
    for (size_t p = 0; p < m_points[l].size(); ++p) {
      const double d = std::hypot(m_plot->xAxis->coordToPixel(m_points[l][p].x) - pixel.x(), m_plot->yAxis->coordToPixel(m_points[l][p].seconds * kMs) - pixel.y());
      if (d < least) least = d, found = {static_cast<int>(l), static_cast<int>(p)};
    }
  }
  return found;
}

void NetworkChart::hover(const QPoint& pixel) {
  const auto [l, p] = near(pixel);
  m_plot->setCursor(l >= 0 && m_lines[static_cast<size_t>(l)].focus ? Qt::PointingHandCursor : Qt::ArrowCursor);
  if (l < 0) return QToolTip::hideText();
  const Line& line = m_lines[static_cast<size_t>(l)];
  const records::Round& round = line.rounds[static_cast<size_t>(m_points[static_cast<size_t>(l)][static_cast<size_t>(p)].round)];
  QToolTip::showText(m_plot->mapToGlobal(pixel),
                     tr("%1, round %2: %3 after %4").arg(line.name, countText(round.number), secondsText(round.network_s), place(round)).toHtmlEscaped(), m_plot);
}

void NetworkChart::keyPressEvent(QKeyEvent* event) {
  const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  const Line* line = focused();
  if (step == 0 || !line || line->rounds.empty()) return QWidget::keyPressEvent(event);
  const auto at = std::find_if(line->rounds.begin(), line->rounds.end(), [&](const records::Round& r) { return r.number == m_round; });
  const auto last = static_cast<std::ptrdiff_t>(line->rounds.size()) - 1;
  const auto next = at == line->rounds.end() ? last : std::clamp<std::ptrdiff_t>(at - line->rounds.begin() + step, 0, last);
  Q_EMIT roundActivated(line->rounds[static_cast<size_t>(next)].number);
}

Table NetworkChart::table() const {
  Table table;
  table.columns = {tr("session"), tr("round"), tr("trials"), tr("time of the session [s]"), tr("time spent measuring [s]"), tr("network, estimated [s]")};
  const auto number = [](double value) { return std::isfinite(value) ? QString::number(value, 'g', 10) : QString(); };
  for (const Line& line : m_lines) {
    for (const records::Round& r : line.rounds)
      table.rows.push_back(
          {line.name, QString::number(r.number), QString::number(r.session_trials), number(r.elapsed_s), number(r.measured_s), number(r.network_s)});
  }
  return table;
}

}  // namespace tw::widgets
