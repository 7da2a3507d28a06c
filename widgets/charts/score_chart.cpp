// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/score_chart.h"

#include <qcustomplot.h>

#include <QHBoxLayout>
#include <QKeyEvent>
#include <algorithm>
#include <cmath>

#include "engine/base/rank_correlation.h"
#include "widgets/charts/plot_theme.h"
#include "widgets/common/format.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {

constexpr double kNearScore = 12;  ///< pixels
constexpr int kLeastSide = 120;

/// Room around the data, in parts of their range.
void setScoreRange(QCPAxis* axis, double low, double high) {
  const double room = high > low ? 0.06 * (high - low) : std::max(1e-3, 0.1 * std::abs(high));
  axis->setRange(low - room, high + room);
}

}  // namespace

ScoreChart::ScoreChart(QWidget* parent) : QWidget(parent), m_drafts(new QCustomPlot(this)), m_scores(new QCustomPlot(this)) {
  setObjectName(QStringLiteral("view.rounds.scores"));
  setAccessibleName(tr("Scores of candidates against their speeds"));
  setFocusPolicy(Qt::StrongFocus);
  auto* box = new QHBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  m_drafts->xAxis->setLabel(tr("Draft (score of the formula)"));
  m_scores->xAxis->setLabel(tr("Verified (score of the model)"));
  for (const auto& [plot, score] : {std::pair(m_drafts, &ScoredTrial::draft), std::pair(m_scores, &ScoredTrial::score)}) {
    plot->setFocusProxy(this);
    plot->setMinimumWidth(kLeastSide);
    showLegendAbove(plot);
    box->addWidget(plot, 1);
    connect(plot, &QCustomPlot::mousePress, this, [this, plot = plot, score = score](QMouseEvent* event) {
      setFocus(Qt::MouseFocusReason);
      choose(plot, score, event->position());
    });
  }
  draw();
}

void ScoreChart::setTrials(std::vector<ScoredTrial> trials, double flops) {
  m_trials = std::move(trials), m_flops = flops;
  setAccessibleDescription(summary());
  draw();
}

void ScoreChart::setSelectedTrial(qint64 number) {
  if (std::exchange(m_selected, number) != number) draw();
}

void ScoreChart::choose(QCustomPlot* plot, double ScoredTrial::*score, const QPointF& at) {
  const ScoredTrial* nearest = nullptr;
  double least = kNearScore;
  for (const ScoredTrial& t : m_trials) {
    if (std::isnan(t.*score)) continue;
    const double d = std::hypot(plot->xAxis->coordToPixel(t.*score) - at.x(), plot->yAxis->coordToPixel(speed(t)) - at.y());
    if (d < least) least = d, nearest = &t;
  }
  if (nearest) Q_EMIT trialActivated(nearest->number);
}

void ScoreChart::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) draw();
}

void ScoreChart::keyPressEvent(QKeyEvent* event) {
  const int by = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  if (by == 0 || m_trials.empty()) return QWidget::keyPressEvent(event);
  const auto at = std::find_if(m_trials.begin(), m_trials.end(), [this](const ScoredTrial& t) { return t.number == m_selected; });
  const auto last = static_cast<qsizetype>(m_trials.size()) - 1;
  const qsizetype next = at == m_trials.end() ? (by > 0 ? 0 : last) : std::clamp<qsizetype>(at - m_trials.begin() + by, 0, last);
  Q_EMIT trialActivated(m_trials[static_cast<size_t>(next)].number);
}

void ScoreChart::draw() {
  const Theme& theme = themeOf(this);
  for (QCustomPlot* plot : {m_drafts, m_scores}) {
    plot->setFont(font());
    plot->clearPlottables();
    applyPlotTheme(plot, theme);
    plot->legend->setBorderPen(Qt::NoPen);
    plot->yAxis->setLabel(m_flops > 0 ? tr("Measured [GFLOP/s]") : tr("Measured [runs/s]"));
  }
  drawSide(m_drafts, &ScoredTrial::draft);
  drawSide(m_scores, &ScoredTrial::score);
  for (QCustomPlot* plot : {m_drafts, m_scores}) plot->replot(QCustomPlot::rpQueuedReplot);
}

void ScoreChart::drawSide(QCustomPlot* plot, double ScoredTrial::*score) {
  const auto said = [score](const ScoredTrial& t) { return !std::isnan(t.*score); };
  // Who has no drafts, or no model, has one side.
  plot->setVisible(m_trials.empty() || std::any_of(m_trials.begin(), m_trials.end(), said));
  if (!plot->isVisibleTo(this) || m_trials.empty()) return;
  const Theme& theme = themeOf(this);
  const auto series = [&](const QString& name, QCPScatterStyle::ScatterShape shape, const QColor& color, double size) {
    QCPGraph* graph = plot->addGraph();
    graph->setName(name);
    graph->setLineStyle(QCPGraph::lsNone);
    graph->setScatterStyle(QCPScatterStyle(shape, QPen(color, 1.4), Qt::NoBrush, size));
    return graph;
  };
  const int64_t newest = m_trials.back().round;
  QCPGraph* earlier = nullptr;
  QCPGraph* now = series(tr("newest round"), QCPScatterStyle::ssTriangle, theme.series[1], 8);
  QCPGraph* failed = nullptr;
  double low = 1e300, high = -1e300, fastest = 0;
  for (const ScoredTrial& t : m_trials) {
    if (!said(t)) continue;
    low = std::min(low, t.*score), high = std::max(high, t.*score), fastest = std::max(fastest, speed(t));
    if (t.failed) {
      if (!failed) failed = series(tr("failed"), QCPScatterStyle::ssCross, theme.error, 7);
      failed->addData(t.*score, 0);
    } else if (t.round == newest) {
      now->addData(t.*score, speed(t));
    } else {
      if (!earlier) earlier = series(tr("earlier"), QCPScatterStyle::ssCircle, theme.series[0], 6);
      earlier->addData(t.*score, speed(t));
    }
    if (t.number == m_selected) series(tr("selected"), QCPScatterStyle::ssDisc, theme.accent, 11)->addData(t.*score, speed(t));
  }
  setScoreRange(plot->xAxis, low, high);
  setScoreRange(plot->yAxis, 0, fastest);
}

QString ScoreChart::summary() const {
  if (m_trials.empty()) return tr("No candidate has a score");
  const auto order = [this](double ScoredTrial::*score) {
    std::vector<double> scores, speeds;
    for (const ScoredTrial& t : m_trials)
      if (!std::isnan(t.*score)) scores.push_back(t.*score), speeds.push_back(speed(t));
    return std::pair(scores.size(), scores.size() > 1 ? spearman(scores, speeds) : 0.0);
  };
  QStringList parts;
  if (const auto [count, rho] = order(&ScoredTrial::draft); count > 1) parts << tr("drafts %1", "a rank correlation").arg(numberText(rho, 2));
  if (const auto [count, rho] = order(&ScoredTrial::score); count > 1) parts << tr("model %1", "a rank correlation").arg(numberText(rho, 2));
  const QString all = tr("%n candidate(s) with a score", nullptr, static_cast<int>(m_trials.size()));
  return parts.isEmpty() ? all : tr("%1; order against measured speeds (1: the same): %2").arg(all, parts.join(QStringLiteral(", ")));
}

Table ScoreChart::table() const {
  Table table;
  table.columns = {tr("trial"), tr("round"), tr("draft"), tr("model"), tr("seconds"), tr("speed")};
  const auto number = [](double v) { return std::isfinite(v) ? QString::number(v, 'g', 9) : QString(); };
  for (const ScoredTrial& t : m_trials)
    table.rows.push_back({QString::number(t.of_session), QString::number(t.round), number(t.draft), number(t.score), number(t.seconds), t.failed ? QString() : number(speed(t))});
  return table;
}

}  // namespace tw::widgets
