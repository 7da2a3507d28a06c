// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/round_chart.h"

#include <qcustomplot.h>

#include <QKeyEvent>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "widgets/charts/plot_theme.h"
#include "widgets/common/format.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {

constexpr int kRoundLegendMargin = 16, kLeastRoundWidth = 160;
/// Neighbours in a stack differ in pattern too.
constexpr Qt::BrushStyle kFills[] = {Qt::SolidPattern, Qt::BDiagPattern, Qt::Dense4Pattern, Qt::FDiagPattern, Qt::Dense2Pattern, Qt::CrossPattern, Qt::Dense6Pattern, Qt::HorPattern};
constexpr Qt::PenStyle kRoundDashes[] = {Qt::SolidLine, Qt::DashLine, Qt::DotLine};
constexpr QCPScatterStyle::ScatterShape kRoundShapes[] = {QCPScatterStyle::ssDisc, QCPScatterStyle::ssSquare, QCPScatterStyle::ssTriangle};
/// Parts that a sentence about one round names.
constexpr size_t kNamedParts = 4;

}  // namespace

RoundChart::RoundChart(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)) {
  setObjectName(QStringLiteral("view.rounds.chart"));
  setAccessibleName(tr("What rounds say of themselves"));
  setFocusPolicy(Qt::StrongFocus);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_plot);
  m_plot->setFocusProxy(this);
  m_plot->setMinimumWidth(kLeastRoundWidth);
  m_plot->axisRect()->setupFullAxesBox();
  for (QCPAxis* axis : {m_plot->xAxis2, m_plot->yAxis2}) axis->setTickLabels(false), axis->setTicks(false);
  m_plot->xAxis->setLabel(tr("Round"));
  showLegendAbove(m_plot);
  connect(m_plot, &QCustomPlot::mouseMove, this, [this](QMouseEvent* e) {
    const int column = columnAt(m_plot->xAxis->pixelToCoord(e->position().x()));
    if (column < 0) return QToolTip::hideText();
    QToolTip::showText(m_plot->mapToGlobal(e->pos()), sentence(m_stack.columns[static_cast<size_t>(column)]).toHtmlEscaped(), m_plot);
  });
  connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent* e) {
    setFocus(Qt::MouseFocusReason);
    const int column = columnAt(m_plot->xAxis->pixelToCoord(e->position().x()));
    if (column >= 0) Q_EMIT roundActivated(m_stack.columns[static_cast<size_t>(column)].number);
  });
  draw();
}

void RoundChart::setStack(RoundTerms terms, RoundStack stack, std::map<std::string, QString> names) {
  m_terms = terms, m_stack = std::move(stack), m_names = std::move(names);
  draw();
}

void RoundChart::setSelectedRound(int64_t number) {
  if (std::exchange(m_round, number) != number) draw();
}

void RoundChart::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) draw();
}

void RoundChart::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  wrapLegend();
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void RoundChart::wrapLegend() {
  int widest = 1;
  for (QCPAbstractPlottable* bars : m_bars)
    if (const QCPLayoutElement* item = m_plot->legend->itemWithPlottable(bars)) widest = std::max(widest, item->minimumOuterSizeHint().width());
  m_plot->legend->setWrap(std::max(1, (width() - kRoundLegendMargin) / (widest + m_plot->legend->columnSpacing())));
  m_plot->legend->setFillOrder(QCPLegend::foColumnsFirst, true);
}

QString RoundChart::name(size_t series) const {
  const auto known = m_names.find(m_stack.series[series]);
  return known == m_names.end() ? QString::fromStdString(m_stack.series[series]) : known->second;
}

QString RoundChart::amount(double value) const {
  if (are_curves(m_terms)) return numberText(value, 3);
  return m_terms == RoundTerms::gains ? secondsText(value) : countText(static_cast<int64_t>(value));
}

int RoundChart::columnAt(double x) const {
  const auto wanted = static_cast<int64_t>(std::llround(x));
  const auto at = std::lower_bound(m_stack.columns.begin(), m_stack.columns.end(), wanted, [](const RoundColumn& c, int64_t n) { return c.number < n; });
  return at == m_stack.columns.end() || at->number != wanted ? -1 : static_cast<int>(at - m_stack.columns.begin());
}

/// Bars from 0; the chosen round has a frame.
void RoundChart::drawBars() {
  const Theme& theme = themeOf(this);
  double highest = 0, selected = 0;
  for (size_t s = 0; s < m_stack.series.size(); ++s) {
    auto* bars = new QCPBars(m_plot->xAxis, m_plot->yAxis);
    bars->setName(name(s));
    bars->setWidth(0.9);
    const QColor color = theme.categorical(static_cast<int>(s));
    bars->setBrush(QBrush(color, kFills[s % std::size(kFills)]));
    bars->setPen(QPen(color, 1));
    if (s > 0) bars->moveAbove(static_cast<QCPBars*>(m_bars.back()));
    QVector<double> x, y;
    for (const RoundColumn& c : m_stack.columns) x << static_cast<double>(c.number), y << c.values[s] * scale();
    bars->setData(x, y, true);
    m_bars.push_back(bars);
  }
  for (const RoundColumn& c : m_stack.columns) {
    const double sum = std::accumulate(c.values.begin(), c.values.end(), 0.0) * scale();
    highest = std::max(highest, sum);
    if (c.number == m_round) selected = sum;
  }
  if (selected > 0) {
    auto* frame = new QCPBars(m_plot->xAxis, m_plot->yAxis);
    frame->setWidth(1);
    frame->setPen(QPen(theme.accent, 2.5));
    frame->setBrush(Qt::NoBrush);
    frame->addData(static_cast<double>(m_round), selected);
    frame->removeFromLegend();
  }
  m_plot->yAxis->setScaleType(QCPAxis::stLinear);
  m_plot->yAxis->setTicker(QSharedPointer<QCPAxisTicker>::create());
  m_plot->yAxis->setRange(0, highest > 0 ? 1.05 * highest : 1);
}

/// Lines with points, by colour, dash and shape; what belongs to a fit is of different magnitudes and stands on a logarithmic axis. The chosen round is a line across.
void RoundChart::drawCurves() {
  const Theme& theme = themeOf(this);
  const bool magnitudes = m_terms == RoundTerms::learning;
  double low = magnitudes ? 1 : -1, high = 1;
  for (size_t s = 0; s < m_stack.series.size(); ++s) {
    auto* line = new QCPGraph(m_plot->xAxis, m_plot->yAxis);
    line->setName(name(s));
    const QColor color = theme.categorical(static_cast<int>(s));
    line->setPen(QPen(color, 1.8, kRoundDashes[s % std::size(kRoundDashes)]));
    line->setScatterStyle(QCPScatterStyle(kRoundShapes[s % std::size(kRoundShapes)], color, 6));
    QVector<double> x, y;
    for (const RoundColumn& c : m_stack.columns) {
      const double v = c.values[s];
      if (!std::isfinite(v) || (magnitudes && v <= 0)) continue;
      x << static_cast<double>(c.number), y << v;
      low = std::min(low, v), high = std::max(high, v);
    }
    line->setData(x, y, true);
    m_bars.push_back(line);
  }
  m_plot->yAxis->setScaleType(magnitudes ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  m_plot->yAxis->setTicker(magnitudes ? QSharedPointer<QCPAxisTicker>(new QCPAxisTickerLog) : QSharedPointer<QCPAxisTicker>::create());
  magnitudes ? m_plot->yAxis->setRange(low / 1.5, high * 1.5) : m_plot->yAxis->setRange(low - 0.05, high + 0.05);
  if (columnAt(static_cast<double>(m_round)) < 0) return;
  auto* chosen = new QCPItemStraightLine(m_plot);
  chosen->setPen(QPen(theme.accent, 1.5));
  chosen->point1->setCoords(static_cast<double>(m_round), magnitudes ? low : 0);
  chosen->point2->setCoords(static_cast<double>(m_round), magnitudes ? high : 1);
}

void RoundChart::draw() {
  const Theme& theme = themeOf(this);
  m_plot->setFont(font());
  applyPlotTheme(m_plot, theme);
  m_plot->legend->setBorderPen(Qt::NoPen);
  m_plot->clearPlottables();
  m_plot->clearItems();
  m_bars.clear();
  are_curves(m_terms) ? drawCurves() : drawBars();
  const double first = m_stack.columns.empty() ? 0 : static_cast<double>(m_stack.columns.front().number);
  const double last = m_stack.columns.empty() ? 1 : static_cast<double>(m_stack.columns.back().number);
  m_plot->xAxis->setRange(first - 0.7, last + 0.7);
  m_plot->yAxis->setLabel(m_terms == RoundTerms::gains       ? tr("Expected to be saved [ms]")
                          : m_terms == RoundTerms::chosen    ? tr("Candidates")
                          : m_terms == RoundTerms::mutations ? tr("Legal children")
                          : m_terms == RoundTerms::learning  ? tr("Of each fit")
                          : m_terms == RoundTerms::order     ? tr("Rank correlation with speed")
                                                             : tr("New schedules"));
  wrapLegend();
  setAccessibleDescription(summary());
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

QString RoundChart::sentence(const RoundColumn& column) const {
  std::vector<size_t> order(column.values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (!are_curves(m_terms)) std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return column.values[a] > column.values[b]; });
  QStringList parts;
  for (const size_t s : order) {
    if (are_curves(m_terms) && !std::isfinite(column.values[s])) continue;
    if (parts.size() == static_cast<qsizetype>(kNamedParts) || (!are_curves(m_terms) && column.values[s] <= 0 && column.details[s].empty())) break;
    const QString detail = QString::fromStdString(column.details[s]);
    parts << (detail.isEmpty() ? tr("%1 %2").arg(name(s), amount(column.values[s])) : tr("%1 %2 (%3)").arg(name(s), amount(column.values[s]), detail));
  }
  const auto task = m_names.find(column.task_key);
  const QString round = task == m_names.end() ? tr("Round %1").arg(countText(column.number)) : tr("Round %1, of %2").arg(countText(column.number)).arg(task->second);
  return parts.isEmpty() ? round : tr("%1: %2").arg(round, parts.join(QStringLiteral(", ")));
}

QString RoundChart::summary() const {
  if (isEmpty()) return tr("No round says anything of it");
  const int chosen = m_round > 0 ? columnAt(static_cast<double>(m_round)) : -1;
  return sentence(chosen < 0 ? m_stack.columns.back() : m_stack.columns[static_cast<size_t>(chosen)]);
}

void RoundChart::keyPressEvent(QKeyEvent* event) {
  const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  if (step == 0 || isEmpty()) return QWidget::keyPressEvent(event);
  const int at = columnAt(static_cast<double>(m_round)), last = static_cast<int>(m_stack.columns.size()) - 1;
  Q_EMIT roundActivated(m_stack.columns[static_cast<size_t>(at < 0 ? last : std::clamp(at + step, 0, last))].number);
}

Table RoundChart::table() const {
  Table table;
  table.columns = {tr("round"), tr("task")};
  for (size_t s = 0; s < m_stack.series.size(); ++s) table.columns << (m_terms == RoundTerms::gains ? tr("%1 [s]").arg(name(s)) : name(s));
  for (const RoundColumn& c : m_stack.columns) {
    const auto task = m_names.find(c.task_key);
    QStringList row{QString::number(c.number), task == m_names.end() ? QString::fromStdString(c.task_key) : task->second};
    for (const double v : c.values) row << (std::isfinite(v) ? QString::number(v, 'g', 10) : QString());
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace tw::widgets
