// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/prediction_chart.h"

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

constexpr double kNearPixels = 12;
/// Of fewer points a correlation says nothing.
constexpr size_t kFewest = 4;
/// Below this width the legend has short names.
constexpr int kRoomForNames = 340;

void setSideRange(QCPAxis* axis, double low, double high) {
  const double room = high > low ? 0.06 * (high - low) : std::max(1e-3, 0.1 * std::abs(high));
  axis->setRange(low - room, high + room);
}

}  // namespace

PredictionChart::PredictionChart(QWidget* parent) : QWidget(parent), m_scatter(new QCustomPlot(this)), m_quality(new QCustomPlot(this)) {
  setObjectName(QStringLiteral("view.curve.predictions"));
  setAccessibleName(tr("Predicted against measured"));
  setFocusPolicy(Qt::StrongFocus);
  auto* box = new QHBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  for (QCustomPlot* plot : {m_scatter, m_quality}) {
    plot->setFocusProxy(this);
    plot->setMinimumWidth(120);
    showLegendAbove(plot);
    box->addWidget(plot, 1);
  }
  m_scatter->xAxis->setLabel(tr("Predicted (score of the model)"));
  m_quality->xAxis->setLabel(tr("Trials learned from"));
  m_quality->yAxis->setLabel(tr("Quality of the order"));
  connect(m_scatter, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
    setFocus(Qt::MouseFocusReason);
    if (m_round < 0) return;
    const PredictionRound::Point* nearest = nullptr;
    double least = kNearPixels;
    for (const auto& p : m_rounds[static_cast<size_t>(m_round)].points) {
      const double d =
          std::hypot(m_scatter->xAxis->coordToPixel(p.score) - event->position().x(), m_scatter->yAxis->coordToPixel(speed(p)) - event->position().y());
      if (d < least) least = d, nearest = &p;
    }
    if (nearest) Q_EMIT trialActivated(nearest->number);
  });
  connect(m_quality, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
    setFocus(Qt::MouseFocusReason);
    int nearest = -1;
    double least = 1e9;
    for (size_t i = 0; i < m_rounds.size(); ++i) {
      if (m_rounds[i].space != m_rounds[static_cast<size_t>(m_round)].space) continue;
      const double d = std::abs(m_quality->xAxis->coordToPixel(m_rounds[i].learned) - event->position().x());
      if (d < least) least = d, nearest = static_cast<int>(i);
    }
    if (nearest >= 0) chooseRound(nearest);
  });
  draw();
}

void PredictionChart::setRounds(std::vector<PredictionRound> rounds, const std::map<uint32_t, QString>& names, double flops) {
  m_rounds = std::move(rounds);
  m_names = names;
  m_flops = flops;
  const int count = static_cast<int>(m_rounds.size());
  if (m_round >= count) m_chosen = false;
  if (!m_chosen) {
    // The newest that has enough to see something.
    m_round = count - 1;
    while (m_round > 0 && m_rounds[static_cast<size_t>(m_round)].points.size() < kFewest) --m_round;
  }
  setAccessibleDescription(summary());
  draw();
}

void PredictionChart::chooseRound(int round) {
  if (round < 0 || round >= static_cast<int>(m_rounds.size())) return;
  m_round = round;
  m_chosen = true;
  setAccessibleDescription(summary());
  draw();
  Q_EMIT roundChosen(round);
}

void PredictionChart::setSelectedTrial(qint64 number) {
  m_trial = number;
  draw();
}

double PredictionChart::speed(const PredictionRound::Point& point) const { return m_flops > 0 ? m_flops * point.per_second / 1e9 : point.per_second; }

QString PredictionChart::nameOf(const PredictionRound& round) const {
  const auto it = m_names.find(round.space);
  return it == m_names.end() ? QString() : it->second;
}

void PredictionChart::draw() {
  const Theme& theme = themeOf(this);
  for (QCustomPlot* plot : {m_scatter, m_quality}) {
    plot->setFont(font());
    plot->clearPlottables();
    plot->clearItems();
    applyPlotTheme(plot, theme);
    plot->legend->setBorderPen(Qt::NoPen);
  }
  m_scatter->yAxis->setLabel(m_flops > 0 ? tr("Measured [GFLOP/s]") : tr("Measured [runs/s]"));
  drawScatter();
  drawQuality();
  for (QCustomPlot* plot : {m_scatter, m_quality}) plot->replot(QCustomPlot::rpQueuedReplot);
}

void PredictionChart::drawScatter() {
  if (m_round < 0) return;
  const Theme& theme = themeOf(this);
  const PredictionRound& round = m_rounds[static_cast<size_t>(m_round)];
  const auto series = [&](const QString& name, QCPScatterStyle::ScatterShape shape, const QColor& color, double size) {
    QCPGraph* graph = m_scatter->addGraph();
    graph->setName(name);
    graph->setLineStyle(QCPGraph::lsNone);
    graph->setScatterStyle(QCPScatterStyle(shape, QPen(color, 1.4), Qt::NoBrush, size));
    return graph;
  };
  QCPGraph* points = series(m_rounds.size() > 1 ? tr("model after %1 trials").arg(round.learned) : tr("trials"), QCPScatterStyle::ssCircle, theme.series[0], 6);
  double low = 1e300, high = -1e300, left = 1e300, right = -1e300;
  for (const auto& p : round.points) {
    points->addData(p.score, speed(p));
    low = std::min(low, speed(p)), high = std::max(high, speed(p));
    left = std::min(left, p.score), right = std::max(right, p.score);
    if (p.number == m_trial) series(tr("selected"), QCPScatterStyle::ssDisc, theme.accent, 11)->addData(p.score, speed(p));
  }
  if (round.points.empty()) return;
  setSideRange(m_scatter->xAxis, left, right);
  setSideRange(m_scatter->yAxis, std::min(low, 0.0), high);
}

void PredictionChart::drawQuality() {
  if (m_rounds.empty()) return;
  const Theme& theme = themeOf(this);
  struct Measure {
    QString name;
    double PredictionRound::*value;
  };
  const bool brief = width() < 2 * kRoomForNames;
  const Measure measures[] = {{brief ? QString(QChar(0x03C1)) : tr("Spearman's %1").arg(QChar(0x03C1)), &PredictionRound::spearman},
                              {brief ? QString(QChar(0x03C4)) : tr("Kendall's %1").arg(QChar(0x03C4)), &PredictionRound::kendall},
                              {tr("top %1").arg(QChar(0x00BC)), &PredictionRound::recall}};
  int style = 0, last = 1;
  for (const Measure& m : measures) {
    const SeriesStyle s = seriesStyle(theme, style++);
    QCPGraph* graph = m_quality->addGraph();
    graph->setName(m.name);
    graph->setPen(QPen(s.color, 1.6, s.line));
    graph->setScatterStyle(QCPScatterStyle(static_cast<QCPScatterStyle::ScatterShape>(s.marker), s.color, s.color, 7));
    for (const PredictionRound& round : m_rounds) {
      // Models of other spaces learn for themselves.
      if (round.space != m_rounds[static_cast<size_t>(std::max(m_round, 0))].space) continue;
      if (round.points.size() >= kFewest) graph->addData(round.learned, round.*m.value);
      last = std::max(last, round.learned);
    }
  }
  m_quality->xAxis->setRange(-0.04 * last, 1.04 * last);
  m_quality->yAxis->setRange(-1.05, 1.05);
  if (m_round < 0) return;
  auto* here = new QCPItemStraightLine(m_quality);
  here->setPen(QPen(theme.accent, 1, Qt::DashLine));
  const int at = m_rounds[static_cast<size_t>(m_round)].learned;
  here->point1->setCoords(at, 0);
  here->point2->setCoords(at, 1);
}

void PredictionChart::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) draw();
}

void PredictionChart::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if ((event->oldSize().width() < 2 * kRoomForNames) != (width() < 2 * kRoomForNames)) draw();
}

void PredictionChart::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Left) return chooseRound(m_round - 1);
  if (event->key() == Qt::Key_Right) return chooseRound(m_round + 1);
  QWidget::keyPressEvent(event);
}

QString PredictionChart::summary() const {
  if (m_round < 0) return tr("No predictions");
  const PredictionRound& round = m_rounds[static_cast<size_t>(m_round)];
  const int found = static_cast<int>(std::lround(round.recall * round.top));
  QString text = tr("Model after %1 trials, %2 chosen: Spearman %3, Kendall %4, %5 of the fastest %6 found")
                     .arg(round.learned)
                     .arg(round.points.size())
                     .arg(numberText(round.spearman, 2), numberText(round.kendall, 2))
                     .arg(found)
                     .arg(round.top);
  if (round.failed > 0) text += tr(", %1 failed").arg(round.failed);
  if (m_names.size() > 1) text += QStringLiteral(" (%1)").arg(nameOf(round));
  return text;
}

Table PredictionChart::table() const {
  Table table;
  table.columns = {tr("learned from [trials]"),
                   tr("space"),
                   tr("trial"),
                   tr("predicted score"),
                   tr("measured [runs/s]"),
                   tr("Spearman"),
                   tr("Kendall"),
                   tr("top"),
                   tr("top found")};
  const auto number = [](double value) { return QString::number(value, 'g', 10); };
  for (const PredictionRound& round : m_rounds) {
    for (const auto& p : round.points)
      table.rows.push_back({QString::number(round.learned), nameOf(round), QString::number(p.number), number(p.score), number(p.per_second),
                            number(round.spearman), number(round.kendall), QString::number(round.top), number(round.recall)});
  }
  return table;
}

}  // namespace tw::widgets
