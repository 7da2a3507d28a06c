// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/charts/activity_chart.h"

#include <qcustomplot.h>

#include <QEvent>
#include <QVBoxLayout>

#include "widgets/charts/plot_theme.h"
#include "widgets/common/format.h"
#include "widgets/theme/theme.h"

namespace tw::widgets {
namespace {
/// More tasks than this are one colour: no more can be told apart.
constexpr size_t kColours = 7;
constexpr Qt::BrushStyle kSharePatterns[] = {Qt::SolidPattern, Qt::Dense3Pattern,    Qt::SolidPattern, Qt::BDiagPattern,
                                             Qt::SolidPattern, Qt::DiagCrossPattern, Qt::FDiagPattern};
}  // namespace

ActivityChart::ActivityChart(QWidget* parent) : QWidget(parent), m_plot(new QCustomPlot(this)) {
  setObjectName(QStringLiteral("view.curve.activity"));
  setAccessibleName(tr("Trials a second by task"));
  setFocusPolicy(Qt::StrongFocus);
  m_plot->setFocusProxy(this);
  auto* box = new QVBoxLayout(this);
  box->setContentsMargins(0, 0, 0, 0);
  box->addWidget(m_plot);
  m_plot->xAxis->setLabel(tr("Time since the first trial [s]"));
  m_plot->yAxis->setLabel(tr("Trials a second"));
  showLegendAbove(m_plot);
  draw();
}

QString ActivityChart::nameOf(int64_t task) const {
  for (const auto& [id, name] : m_names) {
    if (id == task) return name;
  }
  return tr("task %1").arg(task);
}

void ActivityChart::setActivity(const db::Activity& activity, const std::vector<std::pair<int64_t, QString>>& names) {
  m_activity = activity;
  m_names = names;
  draw();
  setAccessibleDescription(summary());
}

void ActivityChart::draw() {
  const Theme& theme = themeOf(this);
  m_plot->setFont(font());
  m_plot->clearPlottables();
  applyPlotTheme(m_plot, theme);
  m_plot->legend->setBorderPen(Qt::NoPen);
  // Colours go to the tasks with most trials.
  std::map<int64_t, int64_t> trials;
  std::map<int64_t, double> height;
  for (const db::ActivityRow& row : m_activity.rows) trials[row.task.value] += row.trials, height[row.slice] += static_cast<double>(row.trials);
  std::vector<int64_t> order;
  for (const auto& [task, count] : trials) order.push_back(task);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return trials[a] > trials[b]; });
  QCPBars* below = nullptr;
  const double slice = std::max(m_activity.slice_s, 1e-9);
  for (size_t i = 0; i < std::min(order.size(), kColours + 1); ++i) {
    auto* bars = new QCPBars(m_plot->xAxis, m_plot->yAxis);
    bars->setWidthType(QCPBars::wtPlotCoords);
    bars->setWidth(slice);
    bars->setStackingGap(0);
    const bool others = i == kColours;
    const QColor color = others ? theme.mutedText : theme.categorical(static_cast<int>(i));
    bars->setPen(QPen(color, 1));
    bars->setBrush(QBrush(color, others ? Qt::Dense6Pattern : kSharePatterns[i]));
    bars->setName(others ? tr("%n other task(s)", nullptr, static_cast<int>(order.size() - kColours)) : nameOf(order[i]));
    std::map<int64_t, double> counts;
    for (const db::ActivityRow& row : m_activity.rows) {
      const auto rank = static_cast<size_t>(std::find(order.begin(), order.end(), row.task.value) - order.begin());
      if (others ? rank >= kColours : rank == i) counts[row.slice] += static_cast<double>(row.trials);
    }
    for (const auto& [at, count] : counts) bars->addData((static_cast<double>(at) + 0.5) * slice, count / slice);
    if (below) bars->moveAbove(below);
    below = bars;
  }
  double high = 0, last = 0;
  for (const auto& [at, count] : height) high = std::max(high, count / slice), last = std::max(last, static_cast<double>(at + 1) * slice);
  m_plot->xAxis->setRange(0, std::max(last, 0.1));
  m_plot->yAxis->setRange(0, high > 0 ? high * 1.05 : 1);
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void ActivityChart::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) draw();
}

QString ActivityChart::summary() const {
  int64_t trials = 0, failures = 0, slices = 0;
  for (const db::ActivityRow& row : m_activity.rows) trials += row.trials, failures += row.failures, slices = std::max(slices, row.slice + 1);
  const double seconds = static_cast<double>(slices) * m_activity.slice_s;
  if (trials == 0) return tr("No trials");
  return tr("%1 trials in %2, %3 a second, %4 failed")
      .arg(countText(trials), durationText(seconds), numberText(static_cast<double>(trials) / std::max(seconds, 1e-9), 3), countText(failures));
}

Table ActivityChart::table() const {
  Table table;
  table.columns = {tr("begin [s]"), tr("length [s]"), tr("task"), tr("trials"), tr("failures"), tr("built and measured for [s]")};
  const auto number = [](double value) { return QString::number(value, 'g', 10); };
  for (const db::ActivityRow& row : m_activity.rows) {
    table.rows.push_back({number(static_cast<double>(row.slice) * m_activity.slice_s), number(m_activity.slice_s), nameOf(row.task.value),
                          QString::number(row.trials), QString::number(row.failures), number(row.spent_s)});
  }
  return table;
}

}  // namespace tw::widgets
