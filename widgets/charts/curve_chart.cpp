// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/curve_chart.h"

#include <qcustomplot.h>

#include <QKeyEvent>
#include <QResizeEvent>
#include <QTimer>
#include <QToolTip>
#include <QVBoxLayout>
#include <cmath>

#include "widgets/charts/plot_theme.h"
#include "widgets/charts/series_style.h"
#include "widgets/common/format.h"
#include "widgets/theme/theme.h"
#include "widgets/tuning/status_text.h"

namespace tw::widgets {
namespace {
constexpr int kBuckets = 2000;
constexpr size_t kRings = 600;
constexpr int kBandAlpha = 50;

/// Marks an axis in another unit than that of its data.
class UnitTicker : public QCPAxisTicker {
 public:
  explicit UnitTicker(double perUnit) : m_perUnit(perUnit) {}

 protected:
  QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override {
    return QCPAxisTicker::getTickLabel(tick * m_perUnit, locale, format, precision);
  }

 private:
  double m_perUnit;
};
}  // namespace

CurveChart::CurveChart(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)) {
  setObjectName(QStringLiteral("view.curve.chart"));
  setAccessibleName(tr("Tuning curve"));
  setFocusPolicy(Qt::StrongFocus);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_plot);
  buildPlot();
  restyle();
  refresh();
}

void CurveChart::buildPlot() {
  m_plot->setFocusProxy(this);
  m_plot->setNoAntialiasingOnDrag(true);
  QCPAxisRect* main = m_plot->axisRect();
  main->setupFullAxesBox();
  for (QCPAxis* axis : {m_plot->xAxis2, m_plot->yAxis2}) axis->setTickLabels(false), axis->setTicks(false);
  m_strip = new QCPAxisRect(m_plot);
  m_plot->plotLayout()->addElement(1, 0, m_strip);
  for (QCPAxisRect* rect : {main, m_strip}) rect->setMinimumMargins(QMargins(0, 2, 0, 0));  // room that labels need is added to these
  // The legend stands above the plot, where it covers no trial.
  showLegendAbove(m_plot);
  m_plot->plotLayout()->setRowSpacing(2);
  auto* group = new QCPMarginGroup(m_plot);
  main->setMarginGroup(QCP::msLeft | QCP::msRight, group);
  m_strip->setMarginGroup(QCP::msLeft | QCP::msRight, group);
  m_strip->axis(QCPAxis::atBottom)->setTickLabels(false);
  m_strip->axis(QCPAxis::atBottom)->setTicks(false);
  m_strip->axis(QCPAxis::atLeft)->setTicker(QSharedPointer<QCPAxisTicker>(new QCPAxisTickerText));
  m_strip->axis(QCPAxis::atLeft)->setSubTicks(false);
  m_strip->axis(QCPAxis::atLeft)->grid()->setVisible(false);
  connect(m_plot->xAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), m_strip->axis(QCPAxis::atBottom), qOverload<const QCPRange&>(&QCPAxis::setRange));

  m_plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
  main->setRangeDrag(Qt::Horizontal);
  main->setRangeZoom(Qt::Horizontal);
  m_trials = m_plot->addGraph();
  m_trials->setName(tr("Trials"));
  m_trials->setLineStyle(QCPGraph::lsNone);
  m_best = m_plot->addGraph();
  m_best->setName(tr("Best so far"));
  m_best->setLineStyle(QCPGraph::lsStepLeft);
  m_selected = m_plot->addGraph();
  m_selected->setLineStyle(QCPGraph::lsNone);
  m_selected->removeFromLegend();
  m_failures = m_plot->addGraph(m_strip->axis(QCPAxis::atBottom), m_strip->axis(QCPAxis::atLeft));
  m_failures->setLineStyle(QCPGraph::lsNone);
  m_failures->setName(tr("Failed trials"));
  m_failures->removeFromLegend();
  m_selectedFailure = m_plot->addGraph(m_strip->axis(QCPAxis::atBottom), m_strip->axis(QCPAxis::atLeft));
  m_selectedFailure->setLineStyle(QCPGraph::lsNone);
  m_selectedFailure->removeFromLegend();
  m_default = m_plot->addGraph();
  m_default->setName(tr("Default schedule"));
  m_zoomed = new QTimer(this);
  m_zoomed->setSingleShot(true);
  m_zoomed->setInterval(15);
  connect(m_zoomed, &QTimer::timeout, this, [this] {
    reduce();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
  });
  // A part of many trials is thinned anew, so that zooming in shows every one of them in the end.
  connect(m_plot->xAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this, [this] {
    if (m_userZoomed && m_store && m_store->size() > kBuckets) m_zoomed->start();
  });
  connect(m_plot, &QCustomPlot::mouseMove, this, [this](QMouseEvent* e) {
    if (e->buttons() & Qt::LeftButton) m_userZoomed = true;
    hover(e->pos());
  });
  connect(m_plot, &QCustomPlot::mouseWheel, this, [this] { m_userZoomed = true; });
  connect(m_plot, &QCustomPlot::mouseRelease, this, [this](QMouseEvent* e) {
    const int row = rowNear(e->pos());
    if (row >= 0) Q_EMIT trialActivated(m_store->number(row));
  });
  connect(m_plot, &QCustomPlot::mouseDoubleClick, this, [this] {
    m_userZoomed = false;
    m_shown = -1;
    refresh();
  });
}

void CurveChart::restyle() {
  const Theme& theme = themeOf(this);
  m_plot->setFont(font());
  applyPlotTheme(m_plot, theme);
  const QColor best = theme.series[5];
  styleTrials();
  m_best->setPen(QPen(best, 2.2));
  m_selected->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(theme.accent, 2.5), QBrush(Qt::NoBrush), 14));
  m_selectedFailure->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssSquare, QPen(theme.accent, 2), QBrush(Qt::NoBrush), 12));
  m_default->setPen(QPen(theme.mutedText, 1.4, Qt::DashLine));
  showOverlays();
  m_plot->legend->setBorderPen(Qt::NoPen);
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void CurveChart::styleTrials() {
  // Rings are told apart, but each costs as much as twenty dots: more of them would not be drawn in time.
  const bool rings = m_data.trials.size() + m_data.failures.size() <= kRings;
  const Theme& theme = themeOf(this);
  const auto shape = [&](QCPScatterStyle::ScatterShape ring, const QColor& color, double width) {
    return rings ? QCPScatterStyle(ring, QPen(color, width), QBrush(Qt::NoBrush), 6)
                 : QCPScatterStyle(QCPScatterStyle::ssDot, QPen(color, 3), QBrush(Qt::NoBrush), 3);
  };
  m_trials->setScatterStyle(shape(QCPScatterStyle::ssCircle, theme.series[4], 1.2));
  m_failures->setScatterStyle(shape(QCPScatterStyle::ssCross, theme.error, 1.6));
  m_trials->setAntialiasedScatters(rings);
  m_failures->setAntialiasedScatters(rings);
}

void CurveChart::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if (!m_store || isLowPlot(event->oldSize().height()) == isLowPlot(height())) return;
  showFailures();
  showSelection();
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void CurveChart::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) restyle();
}

void CurveChart::setStore(TrialStorePtr store) {
  m_store = std::move(store);
  m_shown = -1;
  m_userZoomed = false;
  m_selectedNumber = -1;
  refresh();
}

void CurveChart::setDefaultSeconds(double seconds) {
  if (m_defaultSeconds == seconds) return;
  m_defaultSeconds = seconds;
  m_shown = -1;
  refresh();
}

void CurveChart::setUnit(CurveUnit unit) {
  m_unit = unit;
  m_shown = -1;
  restyle();
  refresh();
}

void CurveChart::setX(CurveX x) {
  m_x = x;
  m_userZoomed = false;
  m_shown = -1;
  refresh();
}

void CurveChart::setName(const QString& name) {
  m_name = name;
  m_shown = -1;
  refresh();
}

void CurveChart::setOverlays(std::vector<Overlay> overlays) {
  m_overlays = std::move(overlays);
  m_shown = -1;
  refresh();
}

std::vector<const TrialStore*> CurveChart::stores() const {
  std::vector<const TrialStore*> all{m_store.get()};
  for (const Overlay& o : m_overlays) {
    all.push_back(o.store.get());
    for (const TrialStorePtr& seed : o.seeds) all.push_back(seed.get());
  }
  std::erase(all, nullptr);
  return all;
}

CurveUnit CurveChart::unit() const {
  // Tasks of other programs' logs may have no known operations, and so no speed.
  const std::vector<const TrialStore*> all = stores();
  const bool known = std::any_of(all.begin(), all.end(), [](const TrialStore* s) { return s->flops() > 0; });
  const bool any = std::any_of(all.begin(), all.end(), [](const TrialStore* s) { return s->size() > 0; });
  return any && !known ? CurveUnit::seconds : m_unit;
}

QString CurveChart::valueTitle() const { return m_plot->yAxis->label(); }

void CurveChart::reduce() {
  // Few trials are all drawn, so that dragging needs no new reduction.
  const bool part = m_userZoomed && m_store && m_store->size() > kBuckets;
  constexpr double kAll = std::numeric_limits<double>::infinity();
  const QCPRange range = m_plot->xAxis->range();
  m_data = m_store ? reduceCurve(*m_store, unit(), kBuckets, m_x, part ? range.lower : -kAll, part ? range.upper : kAll) : CurveData();
  QVector<double> x, y;
  for (const CurvePoint& p : m_data.trials) x << p.x, y << p.y;
  m_trials->setData(x, y, true);
  x.clear(), y.clear();
  for (const CurvePoint& p : m_data.best) x << p.x, y << p.y;
  m_best->setData(x, y, true);
  showFailures();
  styleTrials();
}

void CurveChart::refresh() {
  const int rows = m_store ? m_store->size() : 0;
  if (rows == m_shown) return;
  m_shown = rows;
  reduce();
  showOverlays();
  m_plot->xAxis->setLabel(m_x == CurveX::trials ? tr("Trial") : m_x == CurveX::wall ? tr("Time since the first trial [s]") : tr("Built and measured for [s]"));
  const bool line = m_defaultSeconds > 0 && std::isfinite(m_defaultSeconds) && m_store && m_store->flops() > 0;
  m_default->setVisible(line);
  if (line)
    m_default->addToLegend();
  else
    m_default->removeFromLegend();
  rescale();
  showSelection();
  setAccessibleDescription(summary());
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void CurveChart::showOverlays() {
  while (m_overlayGraphs.size() > m_overlays.size()) {
    m_plot->removeGraph(m_overlayGraphs.back());
    m_overlayGraphs.pop_back();
  }
  for (QCPGraph* graph : m_bandGraphs) m_plot->removeGraph(graph);
  m_bandGraphs.clear();
  const Theme& theme = themeOf(this);
  for (size_t i = 0; i < m_overlays.size(); ++i) {
    if (i == m_overlayGraphs.size()) {
      m_overlayGraphs.push_back(m_plot->addGraph());
      m_overlayGraphs.back()->setLineStyle(QCPGraph::lsStepLeft);
    }
    QCPGraph* graph = m_overlayGraphs[i];
    const Overlay& overlay = m_overlays[i];
    const SeriesStyle style = seriesStyle(theme, overlay.style);
    graph->setName(overlay.name);
    graph->setPen(QPen(style.color, 1.8, style.line));
    graph->setScatterStyle(QCPScatterStyle(static_cast<QCPScatterStyle::ScatterShape>(style.marker), QPen(style.color, 1.4), QBrush(theme.base), 7));
    QVector<double> x, y;
    if (overlay.store) {
      for (const CurvePoint& p : bestCurve(*overlay.store, unit(), m_x)) x << p.x, y << p.y;
    }
    if (!overlay.seeds.empty()) {
      const QuartileBand band = bandOf(overlay.seeds, unit(), m_x);
      const auto values = [](const std::vector<double>& v) { return QVector<double>(v.begin(), v.end()); };
      x = values(band.x), y = values(band.middle);
      graph->setScatterStyle(QCPScatterStyle::ssNone);
      QColor shade = style.color;
      shade.setAlpha(kBandAlpha);
      for (const std::vector<double>* edge : {&band.low, &band.high}) {
        QCPGraph* line = m_plot->addGraph();
        line->setLineStyle(QCPGraph::lsStepLeft);
        line->setPen(QPen(style.color, 0.8, style.line));
        line->setData(x, values(*edge), true);
        line->removeFromLegend();
        m_bandGraphs.push_back(line);
      }
      m_bandGraphs.back()->setBrush(shade);
      m_bandGraphs.back()->setChannelFillGraph(m_bandGraphs[m_bandGraphs.size() - 2]);
    }
    graph->setData(x, y, true);
  }
  m_best->setName(m_name.isEmpty() ? tr("Best so far") : m_name);
  for (QCPGraph* graph : {m_trials, m_best}) {
    const bool listed = m_store && m_store->size() > 0;
    if (listed)
      graph->addToLegend();
    else
      graph->removeFromLegend();
  }
}

double CurveChart::farthest() const {
  double end = 0;
  for (const TrialStore* store : stores()) end = std::max(end, curveRange(*store, m_x).second);
  return end;
}

void CurveChart::showFailures() {
  std::map<records::Status, int> lane;
  for (const FailurePoint& f : m_data.failures) lane.emplace(f.status, 0);
  int next = 0;
  QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
  // In a low chart all kinds share a lane: the curve is asked for more.
  const bool folded = isLowPlot(height()) && lane.size() > 1;
  if (folded) {
    int all = 0;
    for (const auto& [status, y] : lane)
      if (const auto count = m_store->failures().find(status); count != m_store->failures().end()) all += count->second;
    ticker->addTick(next++, tr("failed (%1)").arg(all));
  }
  for (auto& [status, y] : lane) {
    if (folded) break;
    y = next++;
    const auto count = m_store->failures().find(status);
    ticker->addTick(y, tr("%1 (%2)", "kind of failure and how many").arg(statusText(status)).arg(count == m_store->failures().end() ? 0 : count->second));
  }
  QVector<double> x, y;
  for (const FailurePoint& f : m_data.failures) x << f.x, y << lane[f.status];
  m_failures->setData(x, y, true);
  m_strip->axis(QCPAxis::atLeft)->setTicker(ticker);
  m_strip->axis(QCPAxis::atLeft)->setRange(next - 0.4, -0.6);
  m_strip->setVisible(next > 0);
  const int height = next > 0 ? 10 + 17 * next : 1;
  m_strip->setMinimumSize(10, height);
  m_strip->setMaximumSize(QWIDGETSIZE_MAX, height);
}

void CurveChart::rescale() {
  if (!m_userZoomed) {
    const double end = farthest();
    m_plot->xAxis->setRange(0, m_x == CurveX::trials ? std::max(10.0, end * 1.02 + 0.5) : std::max(0.1, end * 1.02));
  }
  QSharedPointer<QCPAxisTicker> ticker(new QCPAxisTicker);
  if (m_x == CurveX::trials) {
    auto* whole = new QCPAxisTickerFixed;  // there is no trial 2.5
    whole->setTickStep(1);
    whole->setScaleStrategy(QCPAxisTickerFixed::ssMultiples);
    ticker.reset(whole);
  }
  m_plot->xAxis->setTicker(ticker);
  double high = 0, least = HUGE_VAL, lowest = HUGE_VAL;
  for (const CurvePoint& p : m_data.trials) high = std::max(high, p.y);
  if (!m_data.best.empty()) least = m_data.best.back().y;
  std::vector<QCPGraph*> lines = m_overlayGraphs;
  lines.insert(lines.end(), m_bandGraphs.begin(), m_bandGraphs.end());
  for (const QCPGraph* graph : lines) {
    for (int i = 0; i < graph->dataCount(); ++i) high = std::max(high, graph->dataMainValue(i)), least = std::min(least, graph->dataMainValue(i));
  }
  lowest = least;
  if (unit() == CurveUnit::seconds && std::isfinite(least)) {
    // Slow outliers would flatten everything of interest: show up to eight times the best, at least the default.
    high = std::min(high, 8 * least);
  }
  m_default->data()->clear();
  if (m_default->visible()) {
    const double y = curveValue(m_defaultSeconds, m_store->flops(), unit());
    high = std::max(high, y), lowest = std::min(lowest, y);
    m_default->addData(0, y);
    m_default->addData(4 * m_plot->xAxis->range().upper, y);
  }
  // Lines alone differ near their ends; trials are read against zero.
  const double low = m_data.trials.empty() && lowest < high ? std::max(0.0, lowest - 0.3 * (high - lowest)) : 0;
  m_plot->yAxis->setRange(low, high > 0 ? high + 0.08 * (high - low) : 1);
  const TimeUnit time = timeUnit(high / 2);
  const bool speed = unit() == CurveUnit::gflops;
  m_plot->yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new UnitTicker(speed ? 1 : time.perSecond)));
  const QString title = speed ? tr("Speed [GFLOP/s]") : tr("Time [%1]").arg(time.name);
  m_plot->yAxis->setLabel(withTimeKind(title, m_times));
}

void CurveChart::setTimes(TimeKind kind) {
  if (kind == m_times) return;
  m_times = kind;
  rescale();
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void CurveChart::setSelectedTrial(qint64 number) {
  m_selectedNumber = number;
  showSelection();
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void CurveChart::showSelection() {
  m_selected->data()->clear();
  m_selectedFailure->data()->clear();
  const int row = m_store ? m_store->rowOf(m_selectedNumber) : -1;
  if (row < 0) return;
  if (m_store->timed(row)) {
    m_selected->addData(curveX(*m_store, row, m_x), curveValue(m_store->seconds(row), m_store->flops(), unit()));
    return;
  }
  for (int i = 0; i < m_failures->dataCount(); ++i) {
    if (m_data.failures[static_cast<size_t>(i)].row == row) m_selectedFailure->addData(m_failures->dataMainKey(i), m_failures->dataMainValue(i));
  }
}

int CurveChart::rowNear(const QPointF& pixel) const {
  int best = -1;
  double nearest = 10 * 10;
  const auto consider = [&](const QCPGraph* graph, double key, double value, int row) {
    const QPointF at = graph->coordsToPixels(key, value);
    const double d = (at.x() - pixel.x()) * (at.x() - pixel.x()) + (at.y() - pixel.y()) * (at.y() - pixel.y());
    if (d < nearest) nearest = d, best = row;
  };
  for (const CurvePoint& p : m_data.trials) consider(m_trials, p.x, p.y, p.row);
  for (size_t i = 0; i < m_data.failures.size() && static_cast<int>(i) < m_failures->dataCount(); ++i) {
    consider(m_failures, m_failures->dataMainKey(static_cast<int>(i)), m_failures->dataMainValue(static_cast<int>(i)), m_data.failures[i].row);
  }
  return best;
}

QString CurveChart::describeRow(int row) const {
  const QString number = trialText(*m_store, row);
  if (!m_store->timed(row))
    return tr("Trial %1: %2").arg(number, statusText(m_store->status(row))) + QLatin1Char('\n') + QString::fromStdString(m_store->message(row));
  return tr("Trial %1: %2, %3 GFLOP/s").arg(number, secondsText(m_store->seconds(row)), gflopsText(m_store->flops(), m_store->seconds(row)));
}

void CurveChart::hover(const QPoint& pixel) {
  const int row = rowNear(pixel);
  m_plot->setCursor(row >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
  if (row >= 0)
    QToolTip::showText(m_plot->mapToGlobal(pixel), describeRow(row).toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>")), m_plot);
  else
    QToolTip::hideText();
}

void CurveChart::keyPressEvent(QKeyEvent* event) {
  const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  if (step == 0 || !m_store || m_store->size() == 0) return QWidget::keyPressEvent(event);
  const int row = std::clamp(m_store->rowOf(m_selectedNumber) + step, 0, m_store->size() - 1);
  Q_EMIT trialActivated(m_store->number(row));
}

Table CurveChart::table() const {
  Table table;
  table.columns = {tr("session"), tr("trial"), m_plot->xAxis->label(), unit() == CurveUnit::gflops ? m_plot->yAxis->label() : tr("Time [s]"), tr("result")};
  const auto number = [](double value) { return QString::number(value, 'g', 10); };
  std::vector<std::pair<double, QStringList>> rows;
  for (const CurvePoint& p : m_data.trials)
    rows.push_back({p.x, {m_name, QString::number(m_store->number(p.row)), number(p.x), number(p.y), QStringLiteral("ok")}});
  for (const FailurePoint& f : m_data.failures)
    rows.push_back({f.x, {m_name, QString::number(m_store->number(f.row)), number(f.x), QString(), QLatin1String(records::status_name(f.status))}});
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& row : rows) table.rows.push_back(std::move(row.second));
  for (const Overlay& o : m_overlays) {
    const QuartileBand band = o.seeds.empty() ? QuartileBand() : bandOf(o.seeds, unit(), m_x);
    for (const auto& [values, what] :
         {std::pair(&band.low, tr("lower quartile")), std::pair(&band.middle, tr("median")), std::pair(&band.high, tr("upper quartile"))}) {
      for (size_t i = 0; i < band.x.size(); ++i) table.rows.push_back({o.name, QString(), number(band.x[i]), number((*values)[i]), what});
    }
    if (!o.store) continue;
    for (const CurvePoint& p : bestCurve(*o.store, unit(), m_x))
      table.rows.push_back({o.name, QString::number(o.store->number(p.row)), number(p.x), number(p.y), tr("best so far")});
  }
  return table;
}

QString CurveChart::summary() const {
  if (!m_store || m_store->size() == 0) return tr("No trials");
  if (m_store->improvements().empty()) return tr("%n trial(s), none succeeded", nullptr, m_store->size());
  const auto& best = m_store->improvements().back();
  if (m_store->flops() <= 0)
    return tr("Best so far %1 at trial %2, of %3").arg(secondsText(best.seconds), trialText(*m_store, best.row), countText(m_store->size()));
  return tr("Best so far %1 (%2 GFLOP/s) at trial %3, of %4")
      .arg(secondsText(best.seconds), gflopsText(m_store->flops(), best.seconds), trialText(*m_store, best.row), countText(m_store->size()));
}

}  // namespace tw::widgets
